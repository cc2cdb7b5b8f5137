# SPDX-License-Identifier: BSD-2-Clause
# A file that is not there is told before any key is added; keys that are given twice, too.
tamis create seen -n 1000
: | gzip >packed
tamis add seen --file packed 2>told || { grep -q 'does not unpack' told && skip "needs zlib"; }
echo a >here
expect 2 tamis add seen --file here --file absent
expect 2 tamis add seen --file .
expect 2 tamis add seen b --file here
expect 2 tamis add seen --file - --file -
tamis info seen items
# What is wrong inside one is told with its line; what stood before it is added.
printf '00\nff\n0\n11\n' >digits
printf '01\n' >before
expect 2 tamis add --hex --new seen --file before --file digits
tamis info seen items
# One cut short: its keys were added as they came.
seq 100000 | gzip | head -c 1000 >short.gz
expect 2 tamis add seen --file short.gz
