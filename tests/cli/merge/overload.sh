# SPDX-License-Identifier: BSD-2-Clause
# A filter keeps its size: what does not fit is told, and the filter does what it was made to do.
tamis create a -n 1000 && tamis create b --like a
seq 1 1000 | tamis add a
seq 1001 2000 | tamis add b
tamis merge a b
seq 1 2000 | tamis check -c a
tamis add --new a 2001 2>warning
sed 's/keys there: .*/keys there: COMMAND/' warning >&2 # a server's --like takes less
tamis info a segments --json | tr , '\n' | grep -c '"number"'
tamis create m -m 10k -k 7 -n 1000 && tamis create n --like m
seq 1 700 | tamis add m
seq 701 1400 | tamis add n
tamis merge m n
tamis info m state
