#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# formats.sh [--records N] TAMIS: how many records of each format `tamis check` takes a second on one core: what is read is
# generated, a million records (N) of each, and is asked of a small filter, so that the reader is most of the time.  The best of
# five runs; beside each format the same bytes as lines.
set -euo pipefail
records=1000000
if [ "${1:-}" = --records ]; then
    records=$2 && shift 2
fi
tamis=$(realpath -e -- "${1:?the command}")
work=$(mktemp -d "${TMPDIR:-/dev/shm}/formats.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
export TAMIS_STORE=$work/store
"$tamis" create seen -n 1000
names() { seq -f "$1" "$records"; }
names '0.0.0.0 tracker-%.0f.ads.example' >hosts
names '||tracker-%.0f.ads.example^' >adblock
names 'tracker-%.0f.ads.example' >domains
names '%.0f,2026-11-28T04:00:00Z,"a title, with a comma",https://crawl.example/page,200,text/html' >csv
names '%.0f	2026-11-28T04:00:00Z	a title	https://crawl.example/page	200	text/html' >tsv
names '{"id":%.0f,"fetched":"2026-11-28T04:00:00Z","page":{"title":"a \"title\"","url":"https://crawl.example/page","status":200},"links":["https://a.example/","https://b.example/"]}' >jsonl
names 'example,crawl)/page 20261128040000 https://crawl.example/%.0f text/html 200 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA 1234' >cdx
best_seconds() { # OPTION...: of user and system time
    for _ in 1 2 3 4 5; do
        TIMEFORMAT='%U %S'
        { time taskset -c 0 "$tamis" check -c seen "$@" >/dev/null 2>&1 || true; } 2>&1 | awk '{ print $1 + $2 }'
    done | sort -g | head -n 1
}
printf '%-8s %14s %10s %16s\n' format records/s ns/record 'as lines, ns'
for format in hosts adblock domains csv tsv jsonl cdx; do
    options=(--format "$format")
    case $format in
    csv | tsv) options+=(--field 4) ;;
    jsonl) options+=(--field page.url) ;;
    esac
    seconds=$(best_seconds "${options[@]}" --file "$format")
    lines=$(best_seconds --file "$format")
    awk -v f="$format" -v s="$seconds" -v l="$lines" -v n="$records" \
        'BEGIN { printf "%-8s %14d %10.0f %16.0f\n", f, n / s, s / n * 1e9, l / n * 1e9 }'
done
