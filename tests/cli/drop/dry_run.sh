# SPDX-License-Identifier: BSD-2-Clause
# What would be dropped is told, in the order of the names, and nothing is changed.
tamis create seen -n 1000
tamis create seen.2 -n 10k
seq 600 | tamis add seen
snapshot >before
tamis drop --dry-run seen.2 seen seen.2
refused tamis drop --dry-run seen sene
snapshot | cmp - before && tamis list -q
tamis drop seen.2 seen
nothing_left
