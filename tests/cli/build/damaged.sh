# SPDX-License-Identifier: BSD-2-Clause
# A packed file that is cut short or damaged, or packed by something else, publishes nothing.
# Seen to fail where the end of the file was taken for the end of the data, and at a cut of 2 bytes, which
# were published as a key.
[ -n "$(type -P zstd)" ] || skip "needs zstd"
seq 50000 >keys
gzip -n -c keys >whole.gz
zstd -q -c --check keys >whole.zst
echo old | tamis build list
tamis build other whole.gz 2>told && tamis build other whole.zst 2>>told
! grep -q 'does not unpack' told || skip "needs zlib and libzstd"
flip() { head -c "$2" "$1" && printf '\252' && tail -c +$(($2 + 2)) "$1"; }
for file in whole.gz whole.zst; do
    size=$(stat -c %s "$file")
    for cut in 2 11 100 $((size / 2)) $((size - 1)); do
        head -c "$cut" "$file" >"cut.$file"
        refused tamis build list "cut.$file"
        refused tamis build list <"cut.$file"
    done
    (cat "$file" && echo more) >"longer.$file"
    for damage in $((size / 3)) $((size - 2)); do
        flip "$file" "$damage" >"flipped.$file"
        refused tamis build list keys "flipped.$file" 2>told
        grep -c "^tamis: flipped.$file: its .* data are damaged at byte [0-9]*: .*; fetch it again$" told
    done
    refused tamis build list "longer.$file"
done
printf '\xfd7zXZ\0rest' >list.xz
printf 'BZh91AY&SYrest' >list.bz2
refused tamis build list list.xz
refused tamis build list list.bz2
refused tamis build list keys --except list.xz
tamis check list old 1
tamis generations list | wc -l
ls "$TAMIS_STORE"/staging
