#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# beyond_memory.sh [--limit MIB] [--seconds S] [--readahead KB] [BENCH_BEYOND]: what a filter costs that is larger than the memory that
# its process may use, beside one that is smaller; as root.
#
# Filters of a half and of twice the limit (1024 MiB) are made without a limit, in each sort of page, and leave the memory.
# Then a process within a memory cgroup (of version 1 or 2) asks and adds for S seconds (10) each.  It takes five minutes,
# and 2 GB of disk in $TMPDIR for a limit of 1 GiB.  What the kernel reads around a page that is not in memory is a setting of
# the device (read_ahead_kb), which --readahead changes meanwhile; with it only small pages of the large filter are measured.
set -euo pipefail

limit=1024
seconds=10
readahead=
bench=$(dirname "$0")/../../.build/test/tests/bench/bench_beyond
while [ $# -gt 0 ]; do
    case $1 in
    --limit) limit=$2 && shift 2 ;;
    --seconds) seconds=$2 && shift 2 ;;
    --readahead) readahead=$2 && shift 2 ;;
    -*) echo "usage: beyond_memory.sh [--limit MIB] [--seconds S] [--readahead KB] [BENCH_BEYOND]" >&2 && exit 2 ;;
    *) bench=$1 && shift ;;
    esac
done
[[ $limit =~ ^[1-9][0-9]*$ && $seconds =~ ^[1-9][0-9]*$ && $readahead =~ ^[0-9]*$ ]] || { echo "give whole numbers" >&2 && exit 2; }

work=$(mktemp -d)
if [ -e /sys/fs/cgroup/memory/memory.limit_in_bytes ]; then
    group=/sys/fs/cgroup/memory/tamis-beyond-$$
    file=memory.limit_in_bytes
else
    group=/sys/fs/cgroup/tamis-beyond-$$
    file=memory.max
fi
mkdir "$group"
ahead=/sys/class/bdi/$(stat -c '%Hd:%Ld' "$work")/read_ahead_kb
before=$(cat "$ahead")
trap 'echo "$before" >"$ahead"; rm -r "$work"; rmdir "$group"' EXIT
echo $((limit << 20)) >"$group/$file"
parts="1 4" sorts="small huge"
[ -z "$readahead" ] || {
    echo "$readahead" >"$ahead"
    parts=4 sorts=small
}

echo "limit $limit MiB; the device reads $(cat "$ahead") KB around a page"
echo "batches of 1,024 keys of 8 bytes, for $seconds s each; the disk's kilobytes and waits of a key"
for part in $parts; do
    for sort in $sorts; do
        echo "filter of $((limit * part / 2)) MiB, $sort pages"
        printf '  %-5s %12s %10s %10s %10s %8s\n' "" "keys/s" "ns/key" "KB read" "KB written" "waits"
        "$bench" make "$work/store" $(((limit * part / 2) << 20)) "$sort"
        (echo $BASHPID >"$group/cgroup.procs" && exec "$bench" ask "$work/store" "$seconds")
        rm -r "$work/store"
    done
done
