#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# command.sh [--lines N] [--repeats R] [TAMIS]: lines a second of `tamis add` and `tamis check` from a file
# of URLs of 70 bytes, on one processor, opening, output and closing included; and its memory.
#
# Beside it stand what reads and writes the same file without a filter, and `sort -u`.  Each figure is the
# least of R runs (5) by user and system time together.  N is 10,000,000: 2.2 GB in $TMPDIR, which should
# be a disk, as the filter is there too.
set -euo pipefail

lines=10000000
repeats=5
tamis=$(dirname "$0")/../../.build/test/bin/tamis
while [ $# -gt 0 ]; do
    case $1 in
    --lines) lines=$2 && shift 2 ;;
    --repeats) repeats=$2 && shift 2 ;;
    -*) echo "usage: command.sh [--lines N] [--repeats R] [TAMIS]" >&2 && exit 2 ;;
    *) tamis=$1 && shift ;;
    esac
done
tamis=$(realpath "$tamis")
[[ $lines =~ ^[1-9][0-9]*$ && $repeats =~ ^[1-9][0-9]*$ ]] || { echo "give whole numbers" >&2 && exit 2; }

work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cd "$work"
export TAMIS_STORE=$work/store LC_ALL=C
# The processor that runs this, and the last one for whoever reads from a pipe.
here=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
there=$(taskset -cp $$ | sed 's/.*[ ,-]//')

urls() {
    awk -v lines="$lines" -v host="$1" 'BEGIN {
        for (i = 0; i < lines; i++)
            printf "https://%s%06d-xx.example.org/path/%05d/page-%06d/%08d.html\n",
                host, i % 65521, i * 7919 % 99991, i * 48271 % 1000000, i
    }'
}

# one COMMAND...: its input the file, its output on descriptor 3; prints wall, user and system seconds.
one() {
    local TIMEFORMAT='%R %U %S'
    # check says by its status that nothing was printed
    { time taskset -c "$here" "$@" <"$input" >&3 2>"$work/told" || [ $? -eq 1 ]; } 2>&1
}

# row LABEL OUTPUT PREPARE COMMAND...: OUTPUT is a file, - for a pipe; PREPARE is run before each.
row() {
    local label=$1 output=$2 prepare=$3 i
    shift 3
    for ((i = 0; i < repeats; i++)); do
        "$prepare"
        if [ "$output" = - ]; then
            one "$@" 3> >(exec taskset -c "$there" cat >/dev/null)
        else
            [ ! -f "$output" ] || rm "$output"
            one "$@" 3>"$output"
        fi
    done | awk -v label="$label" -v lines="$lines" '
        least == "" || $2 + $3 < least { least = $2 + $3; wall = $1; user = $2; system_ = $3 }
        END { printf "%-42s %6.3f %6.3f %6.3f %9.1f\n", label, wall, user, system_,
                     lines / least / 1e6 }'
}

empty() {
    "$tamis" drop -q urls
    "$tamis" create urls -n "$lines" -p 1%
}
as_it_is() { :; }

# The most memory of its own that it was seen to have, without the filter's mapping.
memory() {
    local pid most=0 now
    empty
    "$tamis" add --new urls <urls-1 >/dev/null &
    pid=$!
    while now=$(awk '$1 == "RssAnon:" { print $2 }' "/proc/$pid/status" 2>told) && [ -n "$now" ]; do
        most=$((now > most ? now : most))
    done
    wait "$pid"
    echo "own memory of add --new: $most KiB"
}

urls host >urls-1
urls hosx >urls-2
"$tamis" create urls -n "$lines" -p 1%
input=urls-1
echo "$lines lines of $(($(head -n 1 urls-1 | wc -c) - 1)) bytes; the least of $repeats runs"
printf '%-42s %6s %6s %6s %9s\n' "" wall user system "M lines/s"
row "add" /dev/null empty "$tamis" add urls
row "add --no-sync" /dev/null empty "$tamis" add --no-sync urls
row "add --new, all printed, to /dev/null" /dev/null empty "$tamis" add --new urls
row "add --new, to a new file" out empty "$tamis" add --new urls
row "add --new, to a pipe" - empty "$tamis" add --new urls
row "add --new, nothing printed" /dev/null as_it_is "$tamis" add --new urls
row "check -c" /dev/null as_it_is "$tamis" check -c urls
row "check, all printed, to /dev/null" /dev/null as_it_is "$tamis" check urls
row "check, to a new file" out as_it_is "$tamis" check urls
row "check, to a pipe" - as_it_is "$tamis" check urls
input=urls-2
row "check, 1 % printed, to /dev/null" /dev/null as_it_is "$tamis" check urls
row "check -v, 99 % printed, to /dev/null" /dev/null as_it_is "$tamis" check -v urls
row "check -v, to a new file" out as_it_is "$tamis" check -v urls
row "wc -l" /dev/null as_it_is wc -l
row "cat, to a new file" out as_it_is cat
row "cat, to a pipe" - as_it_is cat
repeats=1
row "sort -u, to a new file" out as_it_is sort --parallel=1 -T "$work" -u
memory
