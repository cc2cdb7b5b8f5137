# SPDX-License-Identifier: BSD-2-Clause
# A filter's positions are those of its hash set, and are what add sets.
# Directory only: looks at the bits in the files
tamis create seen -m 1000003 -k 7 --seed 5
tamis explain seen key >by_filter
tamis explain --hash-set xxh3 -m 1000003 -k 7 --seed 5 key >by_set
cmp by_filter by_set && echo same
tamis add seen key
offset=$(tamis info seen --json | grep -o '"data_offset":[0-9]*' | cut -d: -f2)
for position in $(cut -f3 by_filter | tr , ' '); do
    byte=$(od -An -tu1 -j $((offset + position / 8)) -N 1 "$TAMIS_STORE"/segments/*.seg)
    echo $((byte >> position % 8 & 1))
done
