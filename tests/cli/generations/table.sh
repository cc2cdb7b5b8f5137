# SPDX-License-Identifier: BSD-2-Clause
tamis create seen -n 1000
tamis add seen a b
tamis generations seen | no_times
for night in 1 22 333; do seq "$night" | tamis build list --keep 9 -p 1e-4; done
seq 5 | tamis build list --kind blocked -p 2%
tamis rollback list 2
tamis generations list | no_times
