# SPDX-License-Identifier: BSD-2-Clause
# --new prints each new key once, in input order.
tamis create seen -n 1000
printf 'b\na\nb\n\na\n\n' | tamis add --new seen
echo second
printf 'c\na\n' | tamis add seen --new
