# SPDX-License-Identifier: BSD-2-Clause
# Counts are powers of ten, bits of two as well.
for n in 1 10k 10K 1.5k 0.002M; do
    tamis create "$n" -n "$n"
    tamis info "$n" capacity
done
for m in 1000 1k 1Ki 1.5Ki 0.5Mi; do
    tamis create "m$m" -m "$m" -k 2
    tamis info "m$m" m_bits
done
