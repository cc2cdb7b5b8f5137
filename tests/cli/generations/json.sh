# SPDX-License-Identifier: BSD-2-Clause
seq 1000 | tamis build list
seq 1001 | tamis build list
seq 1000 | tac | tamis build list
tamis create seen -n 1000
tamis add seen a
for name in list seen; do tamis generations "$name" --json | no_times; done
refused tamis generations
refused tamis generations list seen
refused tamis generations lits
refused tamis --store none generations list
