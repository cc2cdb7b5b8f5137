# SPDX-License-Identifier: BSD-2-Clause
# What is no exception is told; the others are removed.
tamis create seen -n 1000
tamis except seen add a b
expect 1 tamis except seen remove zip b zap
expect 1 tamis except seen remove --hex 00ff
expect 1 tamis except seen remove "$(printf '%0300d' 0)"
printf 'line\nbreak\0' | expect 1 tamis except seen remove -z
tamis except seen list
