# SPDX-License-Identifier: BSD-2-Clause
# Of a store that is sound nothing is changed.
seq 1000 | tamis build list
tamis create seen -n 1000
before=$(snapshot)
tamis repair
tamis repair --dry-run
[ "$before" = "$(snapshot)" ] || echo "the store was changed"
