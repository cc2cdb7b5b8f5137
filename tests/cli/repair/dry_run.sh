# SPDX-License-Identifier: BSD-2-Clause
# What would be done is told, and not done.
seq 1000 | tamis build list
seq 2000 | tamis build list
echo half >"$TAMIS_STORE/staging/half"
: >"$TAMIS_STORE/catalog.mdb"
before=$(snapshot)
expect 0 tamis repair --dry-run
expect 0 tamis repair --dry-run --json
[ "$before" = "$(snapshot)" ] || echo "the store was changed"
expect 0 tamis repair
tamis list -q
[ -z "$(ls "$TAMIS_STORE/staging")" ] || echo "staging is not empty"
