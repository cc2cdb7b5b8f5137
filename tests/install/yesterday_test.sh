#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# yesterday_test.sh: today's command and that of the format before on one store.
#
# Yesterday's knows one format less: tools/tamis/CMakeLists.txt compiles what depends on TAMIS__FORMAT_KNOWN once more, so that no
# history is needed.  A new format N needs: the number in store/sizing/layout.h, an `if` at what N brings, the files with
# such an `if` in CMakeLists.txt, and at the end of this script what brings the store to N.
#
# Seen to fail with a number that is not looked at: yesterday's list printed the filters, and its repair went on.
set -euo pipefail

today=${TAMIS_COMMAND:?} yesterday=${TAMIS_YESTERDAY:?}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export TAMIS_STORE=store

fail() {
    echo "$0: $*" >&2
    exit 1
}
same() {
    [ "$2" = "$3" ] || fail "$1: '$2', not '$3'"
}
sums() {
    find "$1" -type f ! -name catalog.lock -print0 | sort -z | xargs -0 sha256sum
}
refused() {
    local status=0
    "$yesterday" "$@" >told 2>&1 </dev/null || status=$?
    same "status of $*" "$status" 2
    grep -q "was made by a newer Tamis (format 2)" told || fail "$*: $(cat told)"
    if grep -qi "damaged\|corrupt" told; then fail "$* speaks of damage: $(cat told)"; fi
}

# A store of yesterday, in which today's goes on, as long as nothing new comes into it.
"$yesterday" create large -n 100k
"$yesterday" create small -n 100 --on-full warn
seq 90 | "$yesterday" add small
same "yesterday's small file" "$(stat -c %s store/segments/0000000000000002.seg)" 8192
seq 91 95 | "$today" add small
seq 1000 | "$today" add large
"$today" create more -n 100k
same "what yesterday's has of today's adds" "$(seq 95 | "$yesterday" check -c small)" 95
"$yesterday" verify
"$yesterday" backup copy

# The first file of one page.
"$today" create page -n 100 --on-full warn
seq 50 | "$today" add page
same "today's small file" "$(stat -c %s store/segments/*4.seg)" 4096
before=$(sums store)
refused list
refused check small 1
refused add small 96
refused info page
refused create other -n 10
refused drop small
refused sync
refused verify
refused doctor
refused backup elsewhere
refused restore copy
refused repair
refused repair --rebuild
refused repair --from copy
same "the store" "$(sums store)" "$before"
same "keys of small" "$(seq 95 | "$today" check -c small)" 95
same "keys of page" "$(seq 50 | "$today" check -c page)" 50
"$today" verify
