# SPDX-License-Identifier: BSD-2-Clause
# Every field that differs is named, and nothing is changed.
tamis create a -n 1000 --seed 1 && tamis create b -n 2000 --kind bloom
tamis create c -m 8000 -k 3 && tamis create d --hash-set guava -m 8000 -k 3
tamis create grown --like a
seq 1 1500 | tamis add grown 2>/dev/null
refused tamis merge a b
refused tamis merge new a b
refused tamis merge c d
refused tamis merge a grown
refused tamis merge --intersect x grown grown
refused tamis merge a a
refused tamis merge a nope
refused tamis merge new grwn
refused tamis merge a
refused tamis merge
refused tamis merge '' a
refused tamis merge a b --progress --no-progress
refused tamis merge new a --seed 3
refused tamis --store elsewhere merge new a
[ -e elsewhere ] || echo "no store was made"
