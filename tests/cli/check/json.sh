# SPDX-License-Identifier: BSD-2-Clause
tamis create seen -n 1000
tamis add seen a
tamis check --json seen a b
expect 1 tamis check --json seen b
echo inverted
tamis check --json -v seen a b
expect 1 tamis check --json -v seen a
echo counted
tamis check --json -c seen a b
tamis check --json --hex seen 61 62
echo 'no text'
printf 'a\0b\n\355\240\200\n' | expect 1 tamis check --json seen
