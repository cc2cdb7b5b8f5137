# SPDX-License-Identifier: BSD-2-Clause
# Filters whose bits are spread as no keys of one filter alone spread them are sound.
# Seen to fail without TAMIS__MIXED_BEGUN in store/filter/merge.c's init_drafts (intersections).
tamis create a -n 100000 -p 1e-6 --seed 1
tamis create b --like a
tamis create c --like a
seq 80000 | tamis add a
seq 40000 120000 | tamis add b
seq 200000 210000 | tamis add c
tamis merge both a b --intersect
tamis merge c a
tamis export a --with-key --to tamis a.tamis
tamis import a2 --from tamis a.tamis
tamis create php -m 1000000 --hash-set php:bkdr,sdbm,js --kind bloom
seq 50000 | tamis add php
tamis create over -n 1000 --on-full warn
seq 100000 | tamis add over 2>told
grep -c 'past its capacity of 1000' told
tamis create counts -n 50000 --kind counting
seq 50000 | tamis add counts
seq 1 2 50000 | tamis remove counts >removed
tamis create window --window 3k
seq 20000 | tamis add window
tamis create grown -n 1000 --on-full grow
seq 50000 | tamis add grown
tamis backup "$SCRATCH/copy"
expect 0 tamis verify
expect 0 tamis --store "$SCRATCH/copy" verify
