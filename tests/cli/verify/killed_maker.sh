# SPDX-License-Identifier: BSD-2-Clause
# A kill between the naming of a segment and the commit: the catalog does not have the file.  verify says what repair knows, and
# what it finds is no problem.  (It was: "belongs to no filter of the catalog, which may be older than it", and status 2.)
tamis create a -n 1000
cp "$TAMIS_STORE/catalog.mdb" before
tamis create b -n 1000
cp before "$TAMIS_STORE/catalog.mdb"
expect 0 tamis verify
expect 1 tamis doctor
expect 0 tamis verify --json
tamis repair
expect 0 tamis verify
expect 0 tamis doctor
