# SPDX-License-Identifier: BSD-2-Clause
# Keys on standard input mean that somebody wanted `remove`: nothing is dropped.  Any input without data will do.
# Seen to fail without the look at standard input: each of the first five dropped the filter.
names=(a b c d e f g)
for name in "${names[@]}"; do tamis create "$name" -n 1000 --kind counting; done
echo key >keys
mkfifo slow
echo key | refused tamis drop a
refused tamis drop a <keys
exec 3<>slow && echo key >&3
refused tamis drop a <&3 # a writer that has not finished
read -r _ <&3
echo key | refused tamis drop 'a*' b
{ read -r name && refused tamis drop -q "$name"; } <<<$'a\nb' # a loop over names: the rest is data too
echo key | tamis drop -n a # harms nobody
tamis list -q | paste -sd ' '
# No data: /dev/null, an empty file, its end, a closed input, a pipe that is closed, one that is open and empty, a socket,
# a directory, and the loop above with its input taken away.
tamis drop a </dev/null
: | tamis drop b
{ read -r _ && tamis drop c; } <keys
tamis drop d <&-
tamis drop e <&3
exec 3<&-
if [ "$(type -P python3)" ]; then
    python3 -c 'import socket, subprocess
a, b = socket.socketpair()
subprocess.run(["tamis", "drop", "f"], stdin=b, check=True)'
else
    tamis drop f
fi
while read -r name; do tamis drop -q "$name" </dev/null; done <<<g
nothing_left
