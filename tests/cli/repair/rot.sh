# SPDX-License-Identifier: BSD-2-Clause
# Bytes of sealed segments change: with a backup they come back; without one, each filter is named.
numbers() { sed 's/00000000[0-9]*\.seg/N.seg/g'; }
first() { tamis info "$1" segments | grep -o 'segments/[0-9]*\.seg' | head -1; }
rot() { # FILE: other bytes of the same density, in two blocks of 64 KiB
    for at in 5000 90000; do
        printf '\x5a\xc3\x3c\xa5\x66\x99\xf0\x0f' | dd of="$1" bs=1 seek="$at" conv=notrunc status=none
    done
}
seq 150000 | tamis build list -q
tamis create grown -n 100000 -p 1% --seed 1
seq 150000 | tamis add grown
tamis sync
tamis backup copy 2>said
before=$(sha256sum "$TAMIS_STORE/$(first list)" | cut -d' ' -f1)
rot "$TAMIS_STORE/$(first list)"
rot "$TAMIS_STORE/$(first grown)"
echo - without a backup
expect 1 tamis repair | numbers
echo - a backup that has rotted as well
cp -r copy bad
rot "bad/$(first list)"
expect 1 tamis repair --from bad | grep list | numbers
tamis repair --list-lost | no_times | numbers
echo - a backup
rot "$TAMIS_STORE/$(first grown)"
expect 0 tamis repair --from copy -n 2>said
expect 0 tamis repair --from copy | numbers
tamis check -c list < <(seq 150000)
tamis check -c grown < <(seq 150000)
[ "$before" = "$(sha256sum "$TAMIS_STORE/$(first list)" | cut -d' ' -f1)" ] || echo "other bytes"
tamis verify
echo - an older backup
tamis create late -n 100000 --seed 1
seq 50000 | tamis add late
tamis backup copy 2>said
seq 150000 | tamis add late
tamis sync
rot "$TAMIS_STORE/$(first late)"
expect 1 tamis repair --from copy 2>said | numbers
