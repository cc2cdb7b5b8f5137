# SPDX-License-Identifier: BSD-2-Clause
tamis create a -n 5000 -p 1e-3 --seed 42
tamis create b --like a
tamis create c -m 1000003 -k 7 --seed 18446744073709551615
tamis create d --like c
for name in a b c d; do tamis info "$name" --json | sed -E 's/"name":"."//; s/"segments".*//'; done
