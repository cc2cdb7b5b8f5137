# SPDX-License-Identifier: BSD-2-Clause
# The keys that are in each; always a new filter.
tamis create a -n 10k -p 1e-6 && tamis create b --like a && tamis create c --like a
seq 1 3000 | tamis add a
seq 2001 5000 | tamis add b
seq 2501 6000 | tamis add c
tamis merge --intersect ab a b
seq 1 6000 | tamis check -c ab
tamis merge --intersect abc a b c
seq 1 6000 | tamis check abc | sort -n | sed -n '1p;$p'
refused tamis merge --intersect ab a b
refused tamis merge ab a --intersect c
