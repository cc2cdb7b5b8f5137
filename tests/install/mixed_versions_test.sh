#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# mixed_versions_test.sh: an older library and today's on one store, both ways.
#
# The older one is the last from before segments had room; there are no releases yet, so it is built from the history.
# Where that is not there (a tarball, a shallow clone), or it cannot be built in time, the test is skipped;
# filter_test asks the same of headers that it writes itself.
#
# Seen to fail without the bit TAMIS__COMPAT_ROOM in the headers: the older command added 60,000 keys to a segment that
# was made for 40,000.
set -euo pipefail

older=456c9d8ba5dc255e679ba66de25210777c3db6ac
source_dir=${TAMIS_SOURCE:?}
tamis=${TAMIS_COMMAND:?}

fail() {
    echo "$0: $*" >&2
    exit 1
}
skip() {
    echo "skipped: $*"
    exit 77
}

command -v git >/dev/null || skip "there is no git"
git -C "$source_dir" cat-file -e "$older^{commit}" 2>/dev/null || skip "commit $older is not in the history here"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
mkdir tree
git -C "$source_dir" archive "$older" | tar -x -C tree
# -O0 and none of the libraries that may be left out: the build takes a third of the time.
options=(-DCMAKE_BUILD_TYPE=Release "-DCMAKE_C_FLAGS_RELEASE=-O0 -g0" -DTAMIS_BUILD_TESTS=OFF)
for part in MD5 SIP HIREDIS ZLIB ZSTD; do
    options+=("-DTAMIS_WITH_$part=OFF")
done
"${CMAKE:-cmake}" -S tree -B build -G Ninja "${options[@]}" >configured 2>&1 ||
    skip "the older library cannot be configured here: $(tail -n 1 configured)"
timeout 540 "${CMAKE:-cmake}" --build build --target tamis_cli -j2 >built 2>&1 ||
    skip "the older library was not built: $(tail -n 1 built)"
old=$PWD/build/tools/tamis
[ -x "$old" ] || fail "there is no $old"

# items STORE: what today's command counts.
items() {
    "$tamis" info --store "$1" --json seen | python3 -c '
import json, sys
info = json.load(sys.stdin)
print(info["items"])'
}
keys() { seq -f "https://example.org/$1/%.0f" "$2" "$3"; }

echo "-- the older library on a store of today's"
"$tamis" create --store new seen -n 40000
keys a 1 1000 | "$tamis" add --store new seen >/dev/null
keys a 1 1000 >known
expect_found() { # COMMAND STORE FILE
    "$1" check --store "$2" seen <"$3" >found || fail "$1 cannot ask the store $2: status $?"
    [ "$(wc -l <found)" = "$(wc -l <"$3")" ] || fail "$1 finds $(wc -l <found) of $(wc -l <"$3") keys in the store $2"
}
expect_found "$old" new known
status=0
keys b 1 60000 | "$old" add --store new seen >added 2>refused || status=$?
[ "$status" -ne 0 ] || fail "the older command has added to a segment whose writers take room"
grep -q "was extended by a newer version of Tamis" refused || fail "it says: $(cat refused)"
[ "$(items new)" = 1000 ] || fail "$(items new) items in place of 1000"

echo "-- today's library on a store of the older one"
"$old" create --store old seen -n 40000
"$old" add --store old seen <known >/dev/null
[ "$("$tamis" add --store old --new seen <known | wc -l)" = 0 ] || fail "keys of the older command are new"
keys c 1 60000 >many
new=$("$tamis" add --store old --new seen <many | wc -l)
[ "$new" -gt 59000 ] || fail "$new of 60000 keys were new"
expect_found "$tamis" old many
expect_found "$tamis" old known
status=0
keys d 1 10 | "$old" add --store old seen >added 2>refused || status=$?
[ "$status" -ne 0 ] || fail "the older command has added to a list that goes on in a segment of today's"
"$tamis" verify --store old >/dev/null || fail "verify finds something: status $?"
echo "both work"
