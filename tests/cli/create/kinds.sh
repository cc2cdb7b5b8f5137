# SPDX-License-Identifier: BSD-2-Clause
tamis create one -n 5000 --kind blocked --seed 7
tamis create two -n 5000 --kind bloom -p 0.1% --seed 0xff
tamis create three -m 1000003 -k 7
tamis create four -m 64Ki -k 3 -n 5000
for name in one two three four; do
    for field in kind m_bits k seed capacity fp_rate; do tamis info "$name" "$field"; done | xargs
done
