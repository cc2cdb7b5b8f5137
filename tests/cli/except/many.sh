# SPDX-License-Identifier: BSD-2-Clause
# More than a batch, in one step; they outlast builds and rollbacks.
seq 100000 | tamis build list
seq 1 2 100000 | tamis except list add --json
seq 100000 | tamis check -c list
seq 200000 | tamis build list
seq 200000 | tamis check -c list
tamis rollback list
seq 100000 | tamis check -c list
tamis except list list | sort -n | cmp - <(seq 1 2 100000)
seq 1 2 50000 | tamis except list remove
seq 100000 | tamis check -c list
tamis verify
