#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# write.sh TAMIS DIRECTORY: write a golden store, and the answers it must give, with the `tamis`
# command of a release.  It refuses a directory that is there: golden files are never written anew.
# README.md says what the files are.
set -euo pipefail
export LC_ALL=C

if [ $# -ne 2 ]; then
    echo "usage: $0 TAMIS DIRECTORY" >&2
    exit 2
fi
tamis=$(realpath "$1")
directory=$2
if [ -e "$directory" ]; then
    echo "$0: $directory is there already; golden files are only ever added to" >&2
    exit 2
fi
mkdir -p "$directory"
cd "$directory"
export TAMIS_STORE=store
names=(urls übervoll classic)

# keys.hex: 300 addresses; a key of each length at which XXH3 or a buffer may take another path,
# of bytes of any value; 30 of the addresses again.
hex_keys() {
    awk 'function url(i,    text, j, out) {
             text = "https://example.org/golden/" i * 7919 % 10007 "?page=" i
             out = ""
             for (j = 1; j <= length(text); j++) out = out code[substr(text, j, 1)]
             return out
         }
         BEGIN {
             for (i = 1; i < 256; i++) code[sprintf("%c", i)] = sprintf("%02x", i)
             for (i = 0; i < 300; i++) print url(i)
             n = split("0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 24 31 32 33 63 64 65 95 96 97 " \
                       "127 128 129 130 143 144 145 160 191 192 193 223 224 225 239 240 241 242 " \
                       "255 256 257 299 300 511 512 513 1023 1024 1025 2047 2048 2049", lengths, " ")
             for (i = 1; i <= n; i++) {
                 out = ""
                 for (j = 0; j < lengths[i]; j++) {
                     state = (state * 75 + 74 + i) % 65537
                     out = out sprintf("%02x", int(state / 13) % 256)
                 }
                 print out
             }
             for (i = 0; i < 300; i += 10) print url(i)
         }'
}
hex_keys >keys.hex
# Keys that are in none of the filters: s0 to s1999.
for i in $(seq 0 1999); do
    printf 's%s' "$i" | od -An -v -tx1 | tr -d ' \n'
    echo
done >strangers.hex

"$tamis" create urls -n 400
"$tamis" create übervoll -n 100 -p 5e-4 --seed 0xFEDCBA987654321F # 360 keys: past its capacity
"$tamis" create gone -n 10
"$tamis" create klassisch -m 4999 -k 7 --seed 42 # not a multiple of 64: bits of padding
"$tamis" rename klassisch classic                # the second name label

for i in "${!names[@]}"; do
    "$tamis" add --hex --json "${names[i]}" <keys.hex |
        sed -E 's/.*"new":true.*/NEW/; s/.*"new":false.*/SEEN/' >"added.$i"
    "$tamis" check --hex --json "${names[i]}" <strangers.hex |
        sed -E 's/.*"present":true.*/yes/; s/.*"present":false.*/no/' >"asked.$i"
    "$tamis" sync "${names[i]}"
done
"$tamis" add gone one two
"$tamis" drop gone # its garbage record stays in the catalog: nobody writes after it

columns=$(
    IFS=$'\t'
    echo "${names[*]}"
)
{
    printf 'key\t%s\n' "$columns"
    paste keys.hex added.0 added.1 added.2
} >added.tsv
{
    printf 'key\t%s\n' "$columns"
    paste strangers.hex asked.0 asked.1 asked.2
} >strangers.tsv
rm keys.hex strangers.hex added.[0-9] asked.[0-9]

{
    printf 'filter\tkind\twords\tm_bits\tk\tseed\tcapacity\tfp_rate\titems\tnumber\tfile_bytes\n'
    numbers=(1 2 4)
    for i in "${!names[@]}"; do
        name=${names[i]}
        segment=$(printf 'store/segments/%016d.seg' "${numbers[i]}")
        printf '%s' "$name"
        printf '\t%s' "$("$tamis" info "$name" kind)" "$(od -An -tu4 -j76 -N4 "$segment" | tr -d ' ')"
        for field in m_bits k seed capacity; do
            printf '\t%s' "$("$tamis" info "$name" "$field")"
        done
        printf '\t%s' "$("$tamis" info --json "$name" fp_rate)" "$("$tamis" info "$name" items)"
        printf '\t%s\t%s\n' "${numbers[i]}" "$(stat -c %s "$segment")"
    done
} >filters.tsv

{
    printf 'filter\tkey\thashes\tpositions\n'
    for name in "${names[@]}"; do
        awk -F '\t' 'NR > 1 && NR < 5 || NR > 301 && NR < 362 && length($1) <= 600 { print $1 }' \
            added.tsv | "$tamis" explain --hex "$name" | sed "s/^/$name	/"
    done
} >positions.tsv
rmdir store/staging # git keeps no empty directory; opening for writing makes it
