# SPDX-License-Identifier: BSD-2-Clause
# Each finding with a command to run, that a shell takes as it stands; 1 where nothing is damaged, 2 where
# something is.
tamis create full -n 100 --seed 1
tamis create "it's over" -n 100 --seed 1 --on-full warn
tamis create refuses -n 100 --seed 1 --on-full refuse
tamis create sound -n 100 --seed 1
tamis create zeroed -n 100000 --seed 1 # before any filter grows: its segment has a fixed number
seq 1000 | tamis add -- "it's over" 2>/dev/null
for name in full refuses; do seq 1000 | tamis add "$name" 2>/dev/null >&2; done
expect 1 tamis doctor refuses "it's over"
expect 0 tamis doctor sound
seq 90000 | tamis add zeroed
segment=$(tamis info zeroed --json | grep -o 'segments/[0-9]*\.seg')
dd if=/dev/zero of="$TAMIS_STORE/$segment" bs=4096 seek=9 count=2 conv=notrunc status=none
echo hello >"$TAMIS_STORE/segments/notes.txt"
expect 2 tamis doctor zeroed sound
expect 2 tamis doctor --json
tamis list | awk '{ print $1, $NF }'
