# SPDX-License-Identifier: BSD-2-Clause
# What cannot be compared, and why.
tamis create a -n 1000 && tamis create b -n 1000 --seed 2 && tamis create c --like a
seq 1 1500 | tamis add c 2>/dev/null
refused tamis compare a b
refused tamis compare a c
refused tamis compare c c
refused tamis compare a nope
refused tamis compare a
refused tamis compare a b c
refused tamis compare a b --hex
