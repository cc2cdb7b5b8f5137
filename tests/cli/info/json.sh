# SPDX-License-Identifier: BSD-2-Clause
tamis create seen -n 1000 --kind bloom --seed 3
seq 1 500 | tamis add seen
tamis info seen --json | no_times
