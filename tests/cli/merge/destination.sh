# SPDX-License-Identifier: BSD-2-Clause
# Into a filter that is there, or a new one; again; with itself or twice named.
# Directory only: compares, which is done where the files are
tamis create a -n 10k && tamis create b --like a
seq 1 3000 | tamis add a
seq 2001 5000 | tamis add b
tamis merge all a b
seq 1 5000 | tamis check -c all
tamis info all items && tamis info all items_estimated && tamis info all note
tamis merge all b a b --json | tr , "\n" | grep -E '^"?(items|state|note|\{"name)'
tamis merge b a
seq 1 5000 | tamis check -c b
seq 1 5000 | tamis check -c a
tamis merge --store "$TAMIS_STORE" -- again b
tamis compare again all
