# SPDX-License-Identifier: BSD-2-Clause
# Numbers as people and programs write them: suffixes, exponents, and _ between digits.
for n in 1000000000 1G 1e9 1E9 1e+9 10e8 1_000_000_000 0.001T 1.5M 1.5e6 1_5e5 15000000e-1; do
    printf '%s ' "$n"
    tamis calc -n "$n" -p 0.01 --kind bloom --json | grep -oE '"capacity":[0-9]+'
done
for n in 1e 1e+ e9 _1 1_ 1__0 1_.5k 1._5k 1e9k 1e-1 2e19 1e999999999999 0e5; do
    expect 2 tamis calc -n "$n" -p 0.01
done
tamis calc -m 8e6 -k 7 --kind bloom --json | grep -oE '"m_bits":[0-9]+'
tamis calc --memory 1e6 -p 1e-2 --kind bloom --json | grep -oE '"m_bits":[0-9]+'
