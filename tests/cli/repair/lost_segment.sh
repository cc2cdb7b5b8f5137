# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# A filter of which a part is lost is said to be, and not made good for.
tamis create seen -n 1000 -p 0.1%
seq 3000 | tamis add seen
tamis create other -n 1000
tamis add other a
tamis info seen segments | cut -d ' ' -f 1
seq 1000 | head -c 4096 | dd of="$TAMIS_STORE/segments/0000000000000002.seg" conv=notrunc status=none
rm "$TAMIS_STORE/catalog.mdb"
expect 2 tamis repair
tamis check other a
