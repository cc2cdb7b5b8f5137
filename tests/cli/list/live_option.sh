# SPDX-License-Identifier: BSD-2-Clause
# --live is what list does by itself.
tamis create seen -n 1000
tamis add seen a
cmp <(tamis list) <(tamis list --live) && tamis list --json --live | grep -o '"items_as_of":"[a-z]*"'
refused tamis list --live --recorded
