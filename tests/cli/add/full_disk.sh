# SPDX-License-Identifier: BSD-2-Clause
# A full disk where the filter has to grow: the keys that are in are told, and the rest once there is room.
small_disk 4m
tamis create seen -n 1000
dd if=/dev/zero of=disk/filler bs=4k status=none 2>full
seq 100000 | expect 2 tamis add --new seen >first 2>told
sed 's/needs .* its/needs N, but its/; s/[0-9]* of the last [0-9]* keys/N of the last N keys/' told
rm disk/filler
test -s first || echo "nothing was told"
[ "$(tamis check -c seen <first)" = "$(wc -l <first)" ] || echo "told, and not in"
seq 100000 | tamis add --new seen >second
sort first second | uniq -d | sed 's/^/told twice: /'
[ "$(cat first second | wc -l)" -gt 98500 ] || cat first second | wc -l
seq 100000 | tamis check -c seen
tamis verify
