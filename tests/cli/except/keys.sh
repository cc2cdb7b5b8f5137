# SPDX-License-Identifier: BSD-2-Clause
# Added, listed, removed; from arguments and from standard input; open to every kind.
tamis create seen -n 1000
seq 100 | tamis add seen
tamis except seen add 7 8
printf '9\n7\n\n' | tamis except seen add
tamis except seen list
tamis check seen 6 7 8 9
tamis check -c seen < <(seq 100)
tamis except seen list | tamis except seen remove
tamis except seen list
tamis check -c seen < <(seq 100)
# It may be known before it is in.
tamis except seen add later
tamis add seen later
expect 1 tamis check seen later
tamis except seen add </dev/null
tamis verify
