# SPDX-License-Identifier: BSD-2-Clause
# A malformed key is named by its number; the keys before it are done.
tamis create seen -n 1000
printf '61\n62\nzz\n63\n' | expect 2 tamis add --hex --new seen
printf '64\n655\n' | expect 2 tamis add --hex --new seen
expect 2 tamis add --hex --new seen 0x61
tamis check seen a b c d e
