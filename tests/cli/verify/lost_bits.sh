# SPDX-License-Identifier: BSD-2-Clause
# Bits that were lost are found by how many are left, whole pages of 4 KiB and all over.
# Seen to fail without store/check/verify_spread.c: "no problem found".
zero() { # SEGMENT PAGE COUNT
    dd if=/dev/zero of="$TAMIS_STORE/segments/000000000000000$1.seg" bs=4096 seek="$2" count="$3" conv=notrunc status=none
}
tamis create bloom -n 100000 --kind bloom --seed 1
tamis create blocked -n 100000 --seed 1
tamis create small -n 1000 --seed 1
tamis create counts -n 100000 --kind counting --seed 1
tamis create sound -n 100000 --seed 1
for name in bloom blocked counts sound; do seq 50000 | tamis add "$name"; done
seq 1000 | tamis add small
expect 0 tamis verify
zero 1 8 10
zero 2 5 1
head -c 600 /dev/zero | dd of="$TAMIS_STORE/segments/0000000000000003.seg" bs=4096 seek=1 conv=notrunc status=none
zero 4 40 1
expect 2 tamis verify
seq 50000 | tamis check -c blocked
