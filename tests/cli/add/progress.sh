# SPDX-License-Identifier: BSD-2-Clause
# Off a terminal progress is printed where asked for, at most five lines a second.
tamis create seen -n 1000
begin=${EPOCHREALTIME/./}
{ echo a; sleep 0.5; echo b; sleep 0.1; } | tamis add --progress seen 2>told
took=$((${EPOCHREALTIME/./} - begin))
lines=$(wc -l <told)
[ "$lines" -ge 1 ] && [ "$lines" -le $((1 + took / 200000)) ] && echo "lines: enough and not too many"
grep -vcE '^[0-9]+ keys?, [0-9]+ keys/s$' told
# Large numbers are told apart by commas.
{ seq 25000; sleep 0.5; echo b; } | tamis add --progress seen 2>told
grep -qE '^25,00[01] keys, ' told && echo 'large numbers have commas'
grep -vcE '^[0-9]{1,3}(,[0-9]{3})* keys?, [0-9]{1,3}(,[0-9]{3})* keys/s$' told
{ echo a; sleep 0.3; echo b; } | tamis add --no-progress seen
{ echo a; sleep 0.3; echo b; } | tamis add seen
