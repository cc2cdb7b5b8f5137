# SPDX-License-Identifier: BSD-2-Clause
# At its capacity a filter is full, and the note says what to do.
tamis create seen -n 1000 --on-full warn
seq 1 1000 | tamis add seen
tamis info seen state
seq 1 1100 | tamis add seen 2>warning
tamis info seen state
tamis info seen note
tamis info seen --json | grep -oE '"state":"[a-z]*"|"unclean_since":.*'
