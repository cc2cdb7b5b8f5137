#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# lint.sh MAN-DIRECTORY: mandoc has nothing to warn of in any page, and the pages that they refer to
# among themselves are there.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/docs/lib.sh
. "$here/lib.sh"
need mandoc
man=$1

for page in "$man"/*; do
    warnings=$(mandoc -T lint -W warning "$page" 2>&1) || true
    [ -z "$warnings" ] || fail "$warnings"
    [ -n "$(mandoc -T ascii "$page")" ] || fail "${page##*/} renders to nothing"
    while read -r name section; do
        [ -f "$man/$name.$section" ] || fail "${page##*/}: there is no page $name($section)"
    done < <(sed -nE 's/^\.(.* )?Xr (tamis[a-z-]*) ([0-9]).*/\2 \3/p' "$page")
done
finish
