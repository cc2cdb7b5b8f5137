# SPDX-License-Identifier: BSD-2-Clause
# Without a filter and without a store, for any m up to 2^64-1.
tamis explain --hash-set xxh3 -m 1000003 -k 7 a b
tamis explain --hash-set xxh3 -m 18446744073709551615 -k 3 a
tamis explain --hash-set xxh3 -m 18446744073709551615 -k 3 a --json
tamis explain --hash-set xxh3 -m 1 -k 2 a
tamis explain --hash-set xxh3 -m 1000 -k 2 --seed 9 a
tamis explain --hash-set xxh3 -m 1000000 -k 100 a | tr , '\n' | wc -l
