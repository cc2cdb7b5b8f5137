# SPDX-License-Identifier: BSD-2-Clause
# A filter of which a part is lost is said to be, and not made good for.
tamis create seen -n 1000 -p 0.1%
seq 3000 | tamis add seen
tamis create other -n 1000
tamis add other a
tamis info seen segments | cut -d ' ' -f 1
seq 1000 | head -c 4096 | dd of="$TAMIS_STORE/segments/0000000000000002.seg" conv=notrunc status=none
rm "$TAMIS_STORE/catalog.mdb"
expect 1 tamis repair >told 2>said
# How many spares there were is a matter of speed.
grep -v 'the catalog has it as garbage' told | sed 's/from [0-9]* segments/from N segments/'
sed 's/^tamis: [0-9]* steps/tamis: N steps/' said >&2
tamis check other a
