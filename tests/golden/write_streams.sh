#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# write_streams.sh TAMIS DIRECTORY 1|2|3: write golden streams of that version of format tamis, and
# what they must answer, with the `tamis` command of a release.  It refuses a directory that is
# there: golden files are never written anew.  README.md says what the files are.
set -euo pipefail
export LC_ALL=C

if [ $# -ne 3 ]; then
    echo "usage: $0 TAMIS DIRECTORY 1|2|3" >&2
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

# Keys 1 to 200, and strangers, of which a few answer yes.
seq 200 >keys
seq 201 2000 >strangers
# seal NAME: a segment of foreign bits, the least of which are set, and an empty one on top.
seal() {
    printf '\377\017' |
        "$tamis" import "$1" --from redis-bitmap - -m 4001 -k 3 --hash-set guava --seal -n 300
}

case $3 in
1)
    names=(urls windowed bucket sealed)
    "$tamis" create urls -n 200 --seed 7
    # Two slices; long enough that nothing is forgotten while anybody may run the tests.
    "$tamis" create windowed -n 400 --window 36500d --slices 2 --on-full refuse
    "$tamis" create bucket --hash-set php:bkdr,sdbm,djb -m 4001 2>/dev/null # a note on these functions
    seal sealed
    for name in "${names[@]}"; do "$tamis" add "$name" <keys; done
    "$tamis" rotate windowed
    "$tamis" add windowed later
    ;;
2)
    names=(fuse-8 fuse-16 fuse-32 none found excepted)
    "$tamis" build fuse-8 -p 0.004 <keys
    "$tamis" build fuse-16 -p 1.53e-5 <keys
    "$tamis" build fuse-32 -p 2.33e-10 <keys
    "$tamis" build none --allow-empty </dev/null
    # Exceptions that the build has found, one of them by hand too, and some by hand.
    "$tamis" build found -p 0.004 --against strangers <keys
    "$tamis" except found list | head -n 1 | "$tamis" except found add
    "$tamis" except found add 5 70 stranger "a longer key, with a comma"
    # Two segments of bits, and the empty key among the exceptions.
    seal excepted
    "$tamis" add excepted <keys
    { head -n 20 keys | while read -r key; do printf '%s' "$key" | od -An -tx1 | tr -d ' \n'; echo; done; echo; } |
        "$tamis" except excepted add --hex
    ;;
3)
    names=(fuse-9 fuse-10 fuse-20 fuse-31 excepted)
    "$tamis" build fuse-9 -p 0.002 <keys
    "$tamis" build fuse-10 -p 0.001 <keys
    "$tamis" build fuse-20 -p 1e-6 <keys
    "$tamis" build fuse-31 -p 4.7e-10 <keys
    "$tamis" build excepted -p 0.003 --against strangers <keys
    "$tamis" except excepted add 5 70 stranger
    ;;
*)
    echo "$0: there is no version '$3'" >&2
    exit 2
    ;;
esac

hex() {
    while read -r key; do
        printf '%s' "$key" | od -An -v -tx1 | tr -d ' \n'
        echo
    done
}
cat keys strangers | hex >asked
for name in "${names[@]}"; do
    "$tamis" export "$name" --to tamis "$name.tamis" --with-key
    { "$tamis" check --hex --json "$name" <asked || [ $? = 1 ]; } |
        sed -E 's/.*"present":true.*/yes/; s/.*"present":false.*/no/' >"column.$name"
    "$tamis" except "$name" list --hex --json | sed "s/^/$name\t/"
done >exceptions.tsv
{
    printf 'key'
    printf '\t%s' "${names[@]}"
    echo
    paste asked "${names[@]/#/column.}"
} >answers.tsv
rm -r keys strangers asked column.* store
