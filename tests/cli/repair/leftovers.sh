# SPDX-License-Identifier: BSD-2-Clause
# What a process that died was making goes; what may be somebody's stays, and is told: status 1.
seq 1000 | tamis build list
echo half >"$TAMIS_STORE/staging/half"
expect 0 tamis repair
ls "$TAMIS_STORE/staging"
cp "$TAMIS_STORE/segments/0000000000000001.seg" "$TAMIS_STORE/segments/0000000000000099.seg"
echo mine >"$TAMIS_STORE/segments/"$'my\nnotes'
expect 1 tamis repair
expect 1 tamis repair --json
cat "$TAMIS_STORE/segments/"$'my\nnotes'
seq 1000 | tamis check -c list
