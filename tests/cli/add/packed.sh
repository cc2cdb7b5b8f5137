# SPDX-License-Identifier: BSD-2-Clause
# Directory only: builds and exceptions, which are made where the files are
# Packed bytes are unpacked wherever they come from.  Seen to fail where only files were: standard input was taken for text.
[ -n "$(type -P zstd)" ] || skip "needs zstd"
printf 'a\nb\n' >plain
gzip -c plain >packed.gz
zstd -qc plain >packed.zst
tamis create seen -n 1000
tamis add seen --file packed.gz 2>told && tamis add seen --file packed.zst 2>>told
! grep -q 'does not unpack' told || skip "needs zlib and libzstd"
for file in packed.gz packed.zst; do
    tamis create c -n 1000 --kind counting
    tamis add --new c <"$file"
    cat "$file" | tamis check -c c
    tamis count c <"$file"
    tamis remove c <"$file"
    tamis check -c c <"$file"
    tamis drop -q c
    tamis uniq <"$file"
    cat "$file" "$file" | tamis uniq --seen # members, frames
    tamis build list <"$file"
    tamis except list add <"$file"
    tamis except list list
    tamis explain --hash-set xxh3 -m 64 -k 1 <"$file" | cut -f 1
done
printf 'a\0c\0d\0' | gzip | tamis add -z --new seen | tr '\0' '|'
echo
printf '61\n' | gzip | tamis check --hex seen
# One that comes byte by byte, and one whose beginning comes late.
tamis create slow -n 1000
mkfifo input
for file in packed.gz packed.zst; do
    tamis add --new slow <input >answers &
    exec 3>input
    for ((i = 0; i < $(stat -c %s "$file"); i++)); do
        tail -c +$((i + 1)) "$file" | head -c 1 >&3
        [ $((i % 8)) -ne 0 ] || sleep 0.01
    done
    exec 3>&-
    wait
    cat answers
done
# Cut short: an error, and what was taken.
seq 100000 | gzip -c >long.gz
head -c 100000 long.gz >short.gz
tamis create cut -n 200k
expect 2 tamis add --new cut <short.gz >answers
seq 100000 | head -n "$(wc -l <answers)" | cmp - answers
expect 2 tamis uniq <short.gz >answers
expect 2 tamis except list add <short.gz
# These are the keys.
tamis create raw -n 1000
printf '\x1f\x8b\x08\n' >key
expect 2 tamis add raw <key
tamis add --new --raw raw <key | od -An -tx1
printf '\xfd7zXZ\0rest\n' >xz
expect 2 tamis add raw --file xz
tamis add --new --raw raw --file xz | od -An -tx1
# A line that begins like packed bytes waits for no more than its end.
tamis create line -n 1000
coproc tamis add --new line
adder=$COPROC_PID
exec 3<&"${COPROC[0]}" 4>&"${COPROC[1]}"
input=${COPROC[1]}
for key in PK BZh '('; do
    echo "$key" >&4
    read -r -t 60 answer <&3
    echo "$answer"
done
exec 4>&- {input}>&-
wait "$adder"
