# SPDX-License-Identifier: BSD-2-Clause
# FIELD prints one value alone, as text or as JSON.
tamis create seen -n 1000
tamis info seen checkpointed_at --json
seq 1 10 | tamis add seen
for field in name kind hash_set m_bits k seed capacity fp_rate items bits_per_key size_bytes generation \
    segments created_at published_at checkpointed_at state note fill; do
    printf '%s: ' "$field"
    tamis info seen "$field" | no_times
done
tamis info seen name --json
tamis info seen items --json
tamis sync
tamis info seen checkpointed_at | no_times
