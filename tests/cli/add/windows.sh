# SPDX-License-Identifier: BSD-2-Clause
# Directory only: builds and exceptions, which are made where the files are
# A list that was written on Windows: told once, and --crlf takes off what is no part of a key.  All commands alike.
# Seen to fail: only `build` knew of it, and `check` said absent for each listed key, without a word.
tamis create seen -n 10k --kind counting
seq -f 'u%.0f' 5 | tamis add seen
seq -f 'u%.0f' 5 | sed 's/$/\r/' >list
tamis add --new --crlf seen <list
tamis check --crlf seen <list | od -An -c | head -2 # the whole line is printed
tamis check seen <list
tamis check -c --crlf seen <list
tamis count --crlf seen --file list
tamis remove --crlf seen <list
tamis check -c seen u1 u2
tamis add seen <list
tamis build black list --crlf
printf 'u2\r\n' | tamis except black add
printf 'u3\r\n\r\n' | tamis except black add --crlf --skip-blank
tamis except black list | od -An -c
# One that goes on: told after a thousand lines, and not at its end only.
tamis create more -n 10k
mkfifo input && : >told
tamis add more <input 2>told &
exec 3>input
seq 1200 | sed 's/$/\r/' >&3
until grep -q 'all lines' told; do sleep 0.01; done
exec 3>&-
wait
cat told
# Some of the lines.
printf 'a\r\nb\nc\r\n' | tamis add more
# A carriage return that is a part of the key, and no end of a line.
printf 'a\rb\n' | tamis add more
printf '61\r\n' | expect 2 tamis add --hex more
printf '61\r\n' | tamis check --hex --crlf more
printf 'a\r\0' | tamis add -z more
printf 'x\r\n' | tamis add --raw more
