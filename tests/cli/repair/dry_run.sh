# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# What would be done is told, and not done.
seq 1000 | tamis build list
cp "$TAMIS_STORE/segments/0000000000000001.seg" "$TAMIS_STORE/segments/0000000000000099.seg"
: >"$TAMIS_STORE/catalog.mdb"
before=$(snapshot)
expect 0 tamis repair --dry-run >said 2>told
[ -s said ] || echo "nothing is said"
grep -c 'would be done$' told
expect 0 tamis repair --dry-run --json 2>/dev/null | grep -c '^{"file":"[^"]*","filter":"[^"]*","error":'
[ "$before" = "$(snapshot)" ] || echo "the store was changed"
expect 0 tamis repair >/dev/null 2>&1
tamis list -q
