#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Run one case of the command line: run.sh [--update] BINARY CASE.sh
#
# The case is a bash script that finds `tamis` in its PATH, a store of its own in $TAMIS_STORE, an
# empty scratch directory as its working directory, and the functions of lib.sh.  What it prints,
# what it says on standard error and its exit status are compared with CASE.out, CASE.err and
# CASE.exit; a file that is not there means nothing printed, nothing said, status 0.  The scratch
# directory is written @SCRATCH@ in them.  Status 77 is a case that cannot be run here.
# --update writes the three files instead: read them before they are committed.
set -u

update=
if [ "$1" = --update ]; then
    update=1
    shift
fi
binary=$(realpath "$1") || exit 2
case=$(realpath "$2") || exit 2
lib=$(dirname "$(realpath "$0")")/lib.sh
expected=${case%.sh}

scratch=$(mktemp -d) || exit 2
results=$(mktemp -d) || exit 2
clean() {
    # What a case has mounted and not taken away; the deepest first.
    awk -v under="$scratch/" 'index($2, under) == 1 { print $2 }' /proc/self/mounts | sort -r |
        xargs -r umount
    chmod -R u+rwX "$scratch" 2>"$results/chmod"
    rm -rf --one-file-system "$scratch" "$results"
}
trap clean EXIT

mkdir "$scratch/bin"
ln -s "$binary" "$scratch/bin/tamis"
cd "$scratch" || exit 2
env -i PATH="$scratch/bin:$PATH" HOME="$scratch/home" LC_ALL=C TAMIS_STORE="$scratch/store" \
    ${ASAN_OPTIONS:+ASAN_OPTIONS="$ASAN_OPTIONS"} SCRATCH="$scratch" \
    bash -u -c '. "$1" && . "$2"' bash "$lib" "$case" \
    >"$results/raw.out" 2>"$results/raw.err" </dev/null
status=$?
[ "$status" -ne 77 ] || exit 77
echo "$status" >"$results/exit"
for stream in out err; do
    sed "s|$scratch|@SCRATCH@|g" "$results/raw.$stream" >"$results/$stream"
done

if [ -n "$update" ]; then
    for part in out err exit; do
        cp "$results/$part" "$expected.$part"
        [ -s "$expected.$part" ] || rm "$expected.$part"
    done
    [ "$status" -ne 0 ] || rm "$expected.exit"
    exit 0
fi

failed=0
for part in out err exit; do
    want=$expected.$part
    if [ ! -e "$want" ]; then
        want=$results/want
        : >"$want"
        [ "$part" != exit ] || echo 0 >"$want"
    fi
    diff -u --label "expected $part" --label "actual $part" "$want" "$results/$part" || failed=1
done
exit "$failed"
