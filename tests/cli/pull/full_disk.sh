# SPDX-License-Identifier: BSD-2-Clause
# Directory only: pull makes a generation of a store in a directory.
# No room for the file, or for the filter that it becomes: the list in force stays, and no spool is left that takes the room.
seq 1000000 | tamis --store there build large -p 1e-6
tamis --store there export large --to tamis large.tamis
seq 7 | tamis --store there build small
tamis --store there export small --to tamis small.tamis
small_disk 2m
tamis pull list "file://$PWD/small.tamis"
refused tamis pull list "file://$PWD/large.tamis" 2>told
sed -E "s|@[A-Z]*@\|/[^ ]*/large|DIR/large|g" told | no_sizes /dev/stdin
# A length that nobody tells.
refused tamis pull list file:///dev/zero --from redis-bitmap --hash-set php:js -m 4294967296 2>told
no_sizes told
tamis check list 7 8
ls "$TAMIS_STORE/staging"
find "$TAMIS_STORE/pulls" -name '*.part'
tamis verify
