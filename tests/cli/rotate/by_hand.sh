# SPDX-License-Identifier: BSD-2-Clause
# Two slices and the one that goes out: three rotations, and what was there before the first is forgotten.
tamis create recent --window 1k --slices 2
tamis add recent old
for turn in 1 2 3; do
    tamis add recent "$turn"
    tamis rotate recent
    tamis check -c recent old 1 2 3
done
tamis info recent window_items
tamis info recent slices
tamis info recent generation
sound
