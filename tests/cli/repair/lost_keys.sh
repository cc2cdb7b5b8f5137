# SPDX-License-Identifier: BSD-2-Clause
# A filter that lost keys is unclean until its owner accepts that: after a repair, after any command that writes its counts, and
# after the catalog was made anew.  (It was "healthy" with 4,000 keys gone.)
segment() { echo "$TAMIS_STORE/segments/000000000000000$1.seg"; }
state() {
    tamis list | no_times
    tamis info seen | grep -E '^(state|unclean_since|missing_keys)' | no_times
    tamis info seen --json | grep -o '"missing_keys":[0-9]*'
    tamis doctor 2>&1 | no_times
}
make() {
    rm -rf "$TAMIS_STORE"
    tamis create seen -n 10000 --seed 1
    seq 1000 | tamis add seen
    cp "$(segment 1)" copy
    seq 5000 | tamis add seen
    cp copy "$(segment 1)"
}
make
expect 1 tamis repair --dry-run
expect 1 tamis repair
state
echo - what does not mend it
tamis sync
tamis repair
tamis repair --rebuild >said 2>&1
seq 1 10 | tamis add seen 2>&1 | no_times
tamis info seen state
echo - its owner has added them again
seq 5000 | tamis add seen 2>said
tamis sync --accept seen
state
echo - a command that writes the counts, before any repair
make
tamis sync
state
tamis sync --accept
tamis doctor
echo - a part of a filter that grew is gone, and the catalog is made anew
tamis create grown -n 1000 --seed 1
seq 10000 | tamis add grown
newest=$(tamis info grown segments | grep -o 'segments/[0-9]*.seg' | tail -1)
rm "$TAMIS_STORE/$newest"
expect 1 tamis repair --rebuild 2>&1 | grep -o 'is a part of the filter, and missing or damaged\|^expected.*'
tamis info grown state
tamis doctor 2>&1 | no_times
tamis sync --accept grown
tamis doctor
