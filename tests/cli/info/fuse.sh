# SPDX-License-Identifier: BSD-2-Clause
# What is known of a static filter, and of its segment; it is never full.
# Directory only: builds, which is done where the files are
seq 1000 | tamis build list -p 1e-3
tamis info list | no_times
echo ---- all
tamis info list --all | no_times
for field in kind fingerprint_bits keep exceptions fp_rate_now state; do
    tamis info list "$field"
done
tamis info --json list segments
