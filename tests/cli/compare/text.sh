# SPDX-License-Identifier: BSD-2-Clause
# Text and JSON; a filter with itself; with an empty one.
tamis create monday -n 10k --seed 5 && tamis create tuesday --like monday && tamis create none --like monday
seq 1 4000 | tamis add monday
seq 3001 7000 | tamis add tuesday
tamis compare monday tuesday
tamis compare monday tuesday --json
tamis compare monday monday --json
tamis compare none monday --json
tamis compare none none --json
