# SPDX-License-Identifier: BSD-2-Clause
tamis create seen -n 1000
tamis except seen add --json a b a
tamis except seen add --json b c
tamis except seen add --json --hex 00ff
tamis except seen list --json
tamis except seen list --json --hex
expect 1 tamis except seen remove --json a zip
# A first key that is empty has no bytes in memory at all.
expect 1 tamis except seen remove --json ''
