# SPDX-License-Identifier: BSD-2-Clause
# A signal while it waits for who reads the answers: those of all keys that were added still come, whole.
tamis create seen -n 1M -p 1e-12
seq 1 500000 >input
mkfifo answers
tamis add --new seen <input >answers 2>told &
pid=$!
exec 4<answers
head -c 100 <&4 >got
until [ ! -e "/proc/$pid/status" ] || grep -q '^State:.S' "/proc/$pid/status"; do sleep 0.01; done
kill -TERM "$pid"
cat <&4 >>got
wait "$pid"
echo "exit $?"
keys=$(sed -n 's/^tamis: stopped by SIGTERM after \([0-9]*\) keys, all of them added and counted$/\1/p' told)
[ "$keys" -lt 500000 ] || echo "it was not stopped"
head -n "$keys" input | cmp - got && echo same
