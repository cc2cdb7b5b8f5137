# SPDX-License-Identifier: BSD-2-Clause
# Back, forth, and to a generation by its number; the next build counts on.
for night in 1 2 3; do seq "$night"000 | tamis build list --keep 5; done
show() { tamis generations list | cut -c -20; tamis info list items; }
tamis rollback list
show
tamis rollback list
show
tamis rollback list 3
show
tamis rollback list 1 --json
seq 4000 | tamis build list
show
tamis rollback list
show
tamis verify
