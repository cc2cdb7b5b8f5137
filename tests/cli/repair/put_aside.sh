# SPDX-License-Identifier: BSD-2-Clause
# What no list has is put aside, and each command says that something is there; it comes back by its name, and goes by an age.
seq 1000 | tamis build list
cp "$TAMIS_STORE/segments/0000000000000001.seg" copy
seq 2000 | tamis build list
seq 3000 | tamis build list
tamis create other -n 1000
cp copy "$TAMIS_STORE/segments/0000000000000001.seg"
cmp copy "$TAMIS_STORE/segments/0000000000000001.seg"
expect 0 tamis repair
expect 0 tamis repair --list-lost | no_times
expect 0 tamis repair --list-lost --json | no_times
cmp copy "$TAMIS_STORE/lost/0000000000000001.seg"
expect 0 tamis list -o name
tamis info other items
tamis info other >said
expect 0 tamis verify
expect 0 tamis doctor
expect 0 tamis backup copied
ls copied
refused tamis repair --restore 0000000000000009.seg
refused tamis repair --restore ../catalog.mdb
refused tamis repair --list-lost --rebuild
refused tamis repair --forget-lost soon
expect 1 tamis repair --forget-lost 30d
expect 0 tamis repair --restore 0000000000000001.seg
ls "$TAMIS_STORE/lost"
tamis rollback list 1 2>said
tamis check -c list < <(seq 1000)
expect 0 tamis repair
expect 0 tamis repair --list-lost
