#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# write.sh TAMIS DIRECTORY [WHAT]: write a golden store, and the answers it must give, with the
# `tamis` command of a release.  WHAT is kinds (the default), hash-sets, md5 or spark.  It refuses a
# directory that is there: golden files are never written anew.  README.md says what the files are.
set -euo pipefail
export LC_ALL=C

if [ $# -lt 2 ] || [ $# -gt 3 ]; then
    echo "usage: $0 TAMIS DIRECTORY [kinds|hash-sets|md5|spark]" >&2
    exit 2
fi
tamis=$(realpath "$1")
directory=$2
what=${3:-kinds}
case $what in
kinds) names=(urls übervoll classic grown remembered strict bucket) ;;
hash-sets) names=(php mt legacy redisbloom guava imported) ;;
md5) names=(md5) ;;
spark) names=(spark-v1 spark-v2 parquet) ;;
*)
    echo "$0: there is no '$what'; give kinds, hash-sets, md5 or spark" >&2
    exit 2
    ;;
esac
if [ -e "$directory" ]; then
    echo "$0: $directory is there already; golden files are only ever added to" >&2
    exit 2
fi
mkdir -p "$directory"
cd "$directory"
export TAMIS_STORE=store

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

case $what in
kinds)
    "$tamis" create urls -n 400
    # 360 keys: past its capacity
    "$tamis" create übervoll -n 100 -p 5e-4 --seed 0xFEDCBA987654321F --on-full warn
    "$tamis" create gone -n 10
    "$tamis" create klassisch -m 4999 -k 7 --seed 42 # not a multiple of 64: bits of padding
    "$tamis" rename klassisch classic                # the second name label
    "$tamis" create grown -n 100 -p 1e-3             # 100 keys, 200 and the rest: three segments
    # Long enough that nothing is forgotten while anybody may run the tests.
    "$tamis" create remembered -n 400 --window 36500d --slices 2
    "$tamis" create strict -n 320 --on-full refuse --seed 7      # 40 keys too few
    "$tamis" create bucket --hash-set php:bkdr,sdbm,djb -m 20001 # most significant bit first
    ;;
hash-sets) # m of no multiple of 64 where the other system does not forbid it
    "$tamis" create php -m 4999 --hash-set php:js,pjw,elf,bkdr,sdbm,djb,dek,fnv
    "$tamis" create mt -m 5003 -k 5 --hash-set php-mt
    "$tamis" create gone -n 10
    "$tamis" create legacy -m 5003 -k 5 --hash-set php-mt-legacy
    "$tamis" create redisbloom -n 400 --hash-set redisbloom
    "$tamis" create guava -n 400 -p 3% --hash-set guava
    # An empty string of bits: the other bit order, and the flag of an estimated count.
    "$tamis" import imported --from redis-bitmap - -m 4507 -k 4 --hash-set guava </dev/null
    ;;
md5)
    "$tamis" create gone -n 10
    "$tamis" create md5 -m 5003 -k 5 --hash-set md5
    ;;
spark)
    "$tamis" create spark-v1 -m 5003 -k 5 --hash-set spark-v1
    "$tamis" create gone -n 10
    "$tamis" create spark-v2 -n 400 -p 3% --hash-set spark-v2 --seed 0xFEDCBA98
    "$tamis" create parquet -n 400 --hash-set parquet
    ;;
esac

answers() {
    sed -E 's/.*"new":true.*/NEW/; s/.*"new":false.*/SEEN/'
}
for i in "${!names[@]}"; do
    name=${names[i]}
    case $name in
    remembered) # two slices of its window
        head -n 195 keys.hex | "$tamis" add --hex --json "$name"
        "$tamis" rotate "$name"
        tail -n +196 keys.hex | "$tamis" add --hex --json "$name"
        ;;
    strict) # one by one: what is refused ends the command
        while read -r key; do
            echo "$key" | "$tamis" add --hex --json "$name" 2>/dev/null || echo FULL
        done <keys.hex
        ;;
    *)
        "$tamis" add --hex --json "$name" <keys.hex
        ;;
    esac | answers >"added.$i"
    { "$tamis" check --hex --json "$name" <strangers.hex || [ $? = 1 ]; } | # 1: none is in
        sed -E 's/.*"present":true.*/yes/; s/.*"present":false.*/no/' >"asked.$i"
    "$tamis" sync "$name"
done
"$tamis" add gone one two
"$tamis" drop gone # its garbage record stays in the catalog: nobody writes after it

columns=$(
    IFS=$'\t'
    echo "${names[*]}"
)
{
    printf 'key\t%s\n' "$columns"
    paste keys.hex added.?
} >added.tsv
{
    printf 'key\t%s\n' "$columns"
    paste strangers.hex asked.?
} >strangers.tsv
rm keys.hex strangers.hex added.? asked.?

# table FIELD...: a line with the fields of each JSON object of the input.
table() {
    python3 -c 'import json, sys
for line in sys.stdin:
    object = json.loads(line)
    print(*(object.get(field, 0) for field in sys.argv[1:]), sep="\t")' "$@"
}
# The segments of filters as objects of their own, each with its filter and the flags of its header.
segments() {
    python3 -c 'import json, struct, sys
for line in sys.stdin:
    filter = json.loads(line)
    for segment in filter["segments"]:
        with open("store/" + segment["file"], "rb") as file:
            (flags,) = struct.unpack_from("<I", file.read(4096), 208)
        print(json.dumps({"filter": filter["name"], **segment, "flags": flags},
                         ensure_ascii=False))'
}
information() {
    for name in "${names[@]}"; do
        "$tamis" info --json "$name"
    done
}
filter_fields=(name kind hash_set m_bits k seed capacity fp_rate items on_full slices state)
segment_fields=(filter number kind words bit_order m_bits k capacity fp_rate items step slice
    size_bytes flags)
(
    IFS=$'\t'
    echo "${filter_fields[*]}"
    information | table "${filter_fields[@]}"
) >filters.tsv
(
    IFS=$'\t'
    echo "${segment_fields[*]}"
    information | segments | table "${segment_fields[@]}"
) >segments.tsv

{
    printf 'filter\tkey\thashes\tpositions\n' # a line for each segment, the oldest first
    for name in "${names[@]}"; do
        awk -F '\t' 'NR > 1 && NR < 5 || NR > 301 && NR < 362 && length($1) <= 600 { print $1 }' \
            added.tsv | "$tamis" explain --hex "$name" | sed "s/^/$name	/"
    done
} >positions.tsv
rmdir store/staging # git keeps no empty directory; opening for writing makes it
