# SPDX-License-Identifier: BSD-2-Clause
refused tamis backup copy
tamis create seen -n 1000
mkdir -p full/inside
echo text >file
refused tamis backup
refused tamis backup copy more
refused tamis backup full
refused tamis backup file
expect 0 tamis backup no/such/parent
expect 0 tamis --store no/such/parent list -q
refused tamis backup "$TAMIS_STORE"
refused tamis backup copy --progress --no-progress
ls
