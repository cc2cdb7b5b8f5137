# SPDX-License-Identifier: BSD-2-Clause
tamis create four -n 1000 --kind counting --json | grep -oE '"(kind|counter_bits|m_bits|k|on_full|bits_per_key)":[^,]*'
for bits in 4 8 16 32; do
    tamis create "c$bits" -n 100k -p 0.1% --kind counting --counter-bits "$bits"
    tamis info "c$bits" size_bytes
done
tamis create more --like c16
tamis info more counter_bits
tamis create c16 -n 100k -p 0.1% --kind counting --counter-bits 16 --if-missing
refused tamis create c16 -n 100k -p 0.1% --kind counting --if-missing
refused tamis create x -n 1000 --counter-bits 8
refused tamis create x -n 1000 --kind counting --counter-bits 5
refused tamis create x -n 1000 --kind counting --counter-bits 64
refused tamis create x -n 1000 --kind counting --on-full grow
refused tamis create x -n 1000 --kind counting --on-full refuse
refused tamis create x -n 1000 --kind counting --window 3d
refused tamis create x -m 5120 -k 6 --kind counting
refused tamis create x -n 1000 --kind counting --hash-set redisbloom
