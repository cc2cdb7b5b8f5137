# SPDX-License-Identifier: BSD-2-Clause
# Whoever asks line by line gets an answer to each line, so none may be skipped; --crlf is no matter of that.
tamis create seen -n 100
tamis add seen a
printf 'a\r\nb\r\n' | tamis check --answer OK,ERR --crlf seen
expect 2 tamis check --answer OK,ERR --comments seen
expect 2 tamis check --answer OK,ERR --skip-blank seen
# The first line needs no other bytes behind it to be answered.
coproc tamis check --answer OK,ERR seen
asked=$COPROC_PID
exec 3<&"${COPROC[0]}" 4>&"${COPROC[1]}"
input=${COPROC[1]}
for key in a P ''; do
    echo "$key" >&4
    read -r -t 60 answer <&3
    echo "$answer"
done
exec 4>&- {input}>&-
wait "$asked"
