# SPDX-License-Identifier: BSD-2-Clause
# What killed adders can explain is no damage: verify warns of it, doctor lists it, nothing else changes; a copy is sound.
# (It was "damaged: has counted items but not one bit set; the data is lost, restore it from a copy".)
tamis create a -n 1000 --seed 1
# As if 100 adders had died behind their counts: two handles have written (word `mark`), and 100 items have no bit.
printf '\020' | dd of="$TAMIS_STORE/segments/0000000000000001.seg" bs=1 seek=1568 conv=notrunc status=none
printf '\144' | dd of="$TAMIS_STORE/segments/0000000000000001.seg" bs=1 seek=2048 conv=notrunc status=none
expect 0 tamis verify
expect 1 tamis doctor
tamis info a state
expect 0 tamis repair
expect 0 tamis backup copy
expect 0 tamis verify --store copy --json
