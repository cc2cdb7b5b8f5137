# SPDX-License-Identifier: BSD-2-Clause
# A catalog of yesterday beside the segments of today: readable, and wrong.
tamis create seen -n 1000
cp "$TAMIS_STORE/catalog.mdb" yesterday
seq 500 | tamis build list
tamis add seen a
cp yesterday "$TAMIS_STORE/catalog.mdb"
tamis list -q
expect 0 tamis repair --rebuild
tamis list -q
seq 500 | tamis check -c list
tamis check seen a
tamis verify
