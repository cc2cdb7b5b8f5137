#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# options_man.sh MAN-DIRECTORY: each command's page describes the options that its --help lists,
# with and without a value, no more and no fewer, and its synopsis shows each of them.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/docs/lib.sh
. "$here/lib.sh"
man=$1

# The options that list items (.It) of a page describe: "It Fl n , Fl -capacity Ar N".
described_options()
{
    awk '/^\.It Fl / {
        value = / Ar / ? "=" : ""
        for (i = 2; i < NF; i++)
            if ($i == "Fl") print "-" $(i + 1) value
    }' "$1" | sort
}

# The options that the synopsis of a page shows, as "-n" or "--kind".
synopsis_options()
{
    awk '/^\.Sh / { inside = $2 == "SYNOPSIS" }
    inside && /^\./ {
        for (i = 1; i < NF; i++)
            if ($i == "Fl" || $i == ".Fl") print "-" $(i + 1)
    }' "$1" | sort -u
}

# Of an item's spellings one must stand in the synopsis.
each_item_is_in_synopsis()
{
    local page=$1 shown spellings spelling
    shown=" $(synopsis_options "$page" | tr '\n' ' ')"
    while read -r -a spellings; do
        for spelling in "${spellings[@]}"; do
            [[ $shown != *" $spelling "* ]] || continue 2
        done
        fail "${page##*/}: ${spellings[*]} is not in the synopsis"
    done < <(awk '/^\.It Fl / {
        for (i = 2; i < NF; i++) if ($i == "Fl") printf "-%s ", $(i + 1)
        print ""
    }' "$page")
}

count=0
for command in $(commands); do
    page=$man/tamis-$command.1
    [ -f "$page" ] || {
        fail "there is no page tamis-$command.1"
        continue
    }
    expected=$(help_options "$command")
    [ -n "$expected" ] || fail "tamis $command --help lists no options"
    same "options of tamis-$command.1 beside tamis $command --help" "$expected" \
        "$(described_options "$page")"
    each_item_is_in_synopsis "$page"
    for name in $(tamis "$command" --help | sed -n '/^ *usage:/,/^$/p' | grep -oE -- '--[a-z-]+'); do
        grep -qE -- "^$name=?$" <<<"$expected" ||
            fail "tamis $command --help has $name in its usage and not in its list"
    done
    grep -q "^\.Xr tamis-$command 1" "$man/tamis.1" || fail "tamis.1 does not name tamis-$command"
    count=$((count + 1))
done
[ "$count" -gt 0 ] || fail "tamis help lists no commands"
pages=("$man"/tamis-*.1)
[ "${#pages[@]}" -eq "$count" ] || fail "there are ${#pages[@]} pages for $count commands"

# What stands before the command is in the usage of tamis itself.
same "options of tamis.1 beside tamis --help" \
    "$({ tamis --help | grep -oE -- '(^|[^[:alnum:]-])--?[A-Za-z][a-z-]*' | tr -d ' ['; } | sort -u)" \
    "$(described_options "$man/tamis.1" | tr -d =)"
finish
