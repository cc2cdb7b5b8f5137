# SPDX-License-Identifier: BSD-2-Clause
# Segments that are missing or damaged come from a backup; what was there is put aside, and each filter that got one is named.
# How many spares there were, and so which numbers and how many steps, is a matter of speed.
numbers() { sed 's/00000000[0-9]*\.seg/N.seg/g; s/^tamis: [0-9]* steps/tamis: N steps/'; }
segment() { tamis info "$1" segments | grep -o 'segments/[0-9]*\.seg' | "$2" -1; } # the first or the last
tamis create grown -n 1000 -p 50% --seed 1
seq 5000 | tamis add grown
seq 1000 | tamis build list -q
seq 2000 | tamis build list -q
oldest=$TAMIS_STORE/$(segment grown head) newest=$TAMIS_STORE/$(segment grown tail) list=$TAMIS_STORE/$(segment list tail)
tamis sync
tamis backup copy 2>said
cp -r "$TAMIS_STORE" whole
again() { rm -rf "$TAMIS_STORE" && cp -r whole "$TAMIS_STORE"; }
echo - the oldest segment of a filter that has grown, and one that is cut
rm "$oldest"
truncate -s 100 "$list"
expect 0 tamis repair -n --from copy >told 2>said
grep -c 'would be taken' told
grep ^expected told
ls "$oldest" 2>/dev/null
expect 0 tamis repair --from copy >told 2>said
grep 'backup\|^expected' told | numbers
tamis check -c grown < <(seq 5000) 2>said
tamis check -c list < <(seq 2000)
tamis repair --list-lost | no_times | numbers
tamis verify
echo - nothing is missing
expect 0 tamis repair --from copy
echo - the newest segment, which was written to
again
tamis create newer -n 1000 --seed 1
seq 100 | tamis add newer
tamis backup copy 2>said
seq 101 900 | tamis add newer
tamis sync
rm "$TAMIS_STORE/$(segment newer tail)"
expect 1 tamis repair --from copy 2>said | numbers
tamis info newer state
tamis check -c newer < <(seq 100) 2>said
echo - a catalog that was made anew without it
again
tamis backup copy 2>said
rm "$oldest"
expect 1 tamis repair --rebuild >told 2>said
grep ^expected told
expect 0 tamis repair --from copy 2>said | numbers
tamis check -c grown < <(seq 5000) 2>said
echo - no catalog, and no segment of a filter
again
rm "$TAMIS_STORE/catalog.mdb" "$list" "$newest"
expect 1 tamis repair --from copy >told 2>said
grep -c 'is taken from the backup' told
grep ^expected told
tamis check -c grown < <(seq 5000) 2>said
tamis check -c list < <(seq 2000)
echo - what is no backup of it
before=$(snapshot)
tamis --store other create x -n 100
refused tamis repair --from other
refused tamis repair --from "$TAMIS_STORE"
refused tamis repair --from nowhere
refused tamis repair --from copy --list-lost
[ "$before" = "$(snapshot)" ] || echo "the store was changed"
