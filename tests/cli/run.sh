#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Run one case of the command line: run.sh [--update] [--store URL] BINARY CASE.sh
#
# The case is a bash script that finds `tamis` in its PATH, a store of its own in $TAMIS_STORE, an
# empty scratch directory as its working directory, and the functions of lib.sh.  What it prints,
# what it says on standard error and its exit status are compared with CASE.out, CASE.err and
# CASE.exit; a file that is not there means nothing printed, nothing said, status 0.  The scratch
# directory is written @SCRATCH@ in them.  Status 77 is a case that cannot be run here.
# With --store URL the case runs on that server, or cluster, in place of a directory.  The one difference that is allowed
# is the name of the store, and the numbers of its files and
# times of checkpoints (shared(), below).
# --update writes the three files instead: read them before they are committed.
set -u

update=
if [ "$1" = --update ]; then
    update=1
    shift
fi
store=
if [ "$1" = --store ]; then
    store=$2
    shift 2
fi
# The suite runs this eight hundred times, so the shell itself does what it can.
{ read -r binary && read -r case && read -r own; } < <(realpath -e -- "$1" "$2" "$0") || exit 2
lib=${own%/*}/lib.sh
expected=${case%.sh}

scratch=$(mktemp -d) || exit 2
results=$scratch.results
clean() {
    # What a case has mounted and not taken away; the deepest first.
    mapfile -t mounts </proc/self/mounts
    if [[ ${mounts[*]} == *" $scratch/"* ]]; then
        awk -v under="$scratch/" 'index($2, under) == 1 { print $2 }' /proc/self/mounts | sort -r |
            xargs -r umount
    fi
    rm -rf --one-file-system "$scratch" 2>"$results/rm" || {
        chmod -R u+rwX "$scratch" 2>"$results/chmod"
        rm -rf --one-file-system "$scratch"
    }
    rm -rf "$results"
}
trap clean EXIT

mkdir "$scratch/bin" "$results"
ln -s "$binary" "$scratch/bin/tamis"
cd "$scratch" || exit 2
env -i PATH="$scratch/bin:$PATH" HOME="$scratch/home" LC_ALL=C TAMIS_STORE="${store:-$scratch/store}" \
    ${ASAN_OPTIONS:+ASAN_OPTIONS="$ASAN_OPTIONS"} SCRATCH="$scratch" \
    TAMIS_SERVER_STORES="${TAMIS_SERVER_STORES:-}" \
    TAMIS_SERVER_PORTS="${TAMIS_SERVER_PORTS:-}" \
    bash -u -c '. "$1" && . "$2"' bash "$lib" "$case" \
    >"$results/out" 2>"$results/err" </dev/null
status=$?
[ "$status" -ne 77 ] || exit 77
echo "$status" >"$results/exit"
sed -i -e "s|$scratch|@SCRATCH@|g" -e "s|${store:-@none@}|@STORE@|g" "$results/out" "$results/err"

if [ -n "$update" ]; then
    for part in out err exit; do
        cp "$results/$part" "$expected.$part"
        [ -s "$expected.$part" ] || rm "$expected.$part"
    done
    [ "$status" -ne 0 ] || rm "$expected.exit"
    exit 0
fi

# shared FROM TO: what a directory and a server say alike.  They differ in the store's name and the numbers of files, and
# in checkpointed_at: a command closes its filters at its end, which brings them to the disk, and a server does not.
shared() {
    sed -E -e 's|@SCRATCH@/store|@STORE@|g' -e 's|segments/[0-9]{16}\.seg|@SEGMENT@|g' \
        -e 's|"number":[0-9]+|"number":@N@|g' -e 's/"checkpointed_at":("TIME"|null)/"checkpointed_at":@WHEN@/g' \
        -e 's/^(checkpointed_at: )(TIME|never)$/\1@WHEN@/' "$1" >"$2"
}

failed=0
for part in out err exit; do
    want=$expected.$part
    got=$results/$part
    if [ ! -e "$want" ]; then
        want=$results/want
        : >"$want"
        [ "$part" != exit ] || echo 0 >"$want"
    fi
    if [ "$part" = exit ]; then
        read -r wanted <"$want"
        [ "$wanted" != "$status" ] || continue
    fi
    [ -s "$want" ] || [ -s "$got" ] || continue
    if [ -n "$store" ]; then
        shared "$want" "$results/of_directory"
        shared "$got" "$results/of_server"
        want=$results/of_directory
        got=$results/of_server
    fi
    diff -u --label "expected $part" --label "actual $part" "$want" "$got" || failed=1
done
exit "$failed"
