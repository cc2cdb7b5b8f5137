# SPDX-License-Identifier: BSD-2-Clause
# Answers come while the input pauses: each is read before the next key is written.
tamis create seen -n 1000
# The shell forgets COPROC and COPROC_PID as soon as the command has ended.
coproc tamis add --new seen
adder=$COPROC_PID
exec 3<&"${COPROC[0]}" 4>&"${COPROC[1]}"
input=${COPROC[1]}
for key in one two three; do
    echo "$key" >&4
    read -r -t 60 answer <&3
    echo "$answer"
done
exec 4>&-
exec {input}>&-
wait "$adder"
