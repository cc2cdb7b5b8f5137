# SPDX-License-Identifier: BSD-2-Clause
# Before, a pattern was only ever a name: "there is no filter 'day.*'".
for name in day.1 day.2 day night 'day.*' 'odd[1]' odd1; do tamis create "$name" -n 1000; done
tamis drop --dry-run 'da?.[12]' day.1
tamis drop 'day.*' # the name of a filter means that filter alone
tamis list -q
tamis drop 'day.*' 'n*t' night
tamis list -q
tamis drop 'odd\[1\]'
tamis list -q
# One pattern that nothing matches, and nothing is dropped.  The beginning of a name is no match.
refused tamis drop 'd*' 'week.*'
refused tamis drop '[d'
refused tamis drop da
tamis list -q
tamis drop '*'
nothing_left
