# SPDX-License-Identifier: BSD-2-Clause
# Filters that count are compared by which keys they have, not how often.
tamis create part1 -n 10k --kind counting
tamis create part2 --like part1
{ seq 1 1000; yes often | head -n 5; } | tamis add part1
{ seq 1 1000; yes often | head -n 10; } | tamis add part2
tamis compare part1 part2 | grep items_both
