# SPDX-License-Identifier: BSD-2-Clause
# Rate 1 %, kind blocked, hash set xxh3; it prints nothing.
tamis create seen -n 1000
tamis info seen --json | no_times
