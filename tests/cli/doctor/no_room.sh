# SPDX-License-Identifier: BSD-2-Clause
# A filter that refuses before it is full, as killed adders had room in their hands: all tell it, and why, and the
# command that doctor prints mends it. (It said "ok" and "healthy".)
tamis create r -n 1000 --seed 1 --on-full refuse
seq -s , 500 | sed 's/.*/[&]/' | tamis add r --format jsonl # one record, one batch
# As if a killed adder had taken the rest: `granted` of the header (docs/format.md) is the limit.
printf '\350\003' | dd of="$TAMIS_STORE/segments/0000000000000001.seg" bs=1 seek=1648 conv=notrunc status=none
expect 1 tamis doctor r
tamis info r state
tamis info r note
tamis list r
tamis doctor r --json
tamis report r -o page.html
grep -o 'it holds 500 of .*tamis sync r' page.html
# Who opens it to add gets the room back too, but for what keys without a count may have: the filter is full again a little early.
seq 501 2000 >keys
tamis add r --file keys 2>said
grep -o "the filter .r. holds .*" said
expect 0 tamis sync r
expect 0 tamis doctor r
seq 2001 2020 | tamis add r --stats 2>&1 | grep -o ', [0-9]* new' # of the first batch
