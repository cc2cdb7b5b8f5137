# SPDX-License-Identifier: BSD-2-Clause
tamis create seen -n 1000
seq 1 500 | tamis add seen
tamis info seen | no_times
echo ---- all
tamis info seen --all | no_times
tamis info seen fp_rate_now
