#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# api.sh PAGE HEADER...: the page shows every function of the headers with the header's own prototype
# and describes it, and names every constant and every member of a structure.  The first header
# includes the others.  tamis.3 has every error and no function; the constants of its headers are
# described by any page of the library.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/docs/lib.sh
. "$here/lib.sh"
page=$1 main_header=$2
include=${main_header%/*}
shift
header=$scratch/headers.h
cat "$@" >"$header"

# Functions that the headers declare TAMIS_API, one a line.
declared()
{
    sed '/^#/d' "$header" | tr '\n' ' ' | grep -oE 'TAMIS_API [^;({]*\(' |
        sed -E 's/.*[ *]([a-z_]+)\($/\1/' | sort
}

# The prototypes of the synopsis, as C: .Ft TYPE, then .Fn NAME ARGUMENT..., or .Fo NAME, .Fa
# ARGUMENT, ..., .Fc.
prototypes()
{
    awk -F '"' '
    /^\.Sh / { inside = $0 == ".Sh SYNOPSIS" }
    !inside { next }
    /^\.Ft / { type = substr($0, 5); gsub(/"/, "", type) }
    /^\.Fn / {
        split($1, word, " ")
        list = NF > 1 ? "" : word[3]
        for (i = 2; i <= NF; i += 2) list = list (i > 2 ? ", " : "") $i
        print type " " word[2] "(" list ");"
    }
    /^\.Fo / { name = substr($0, 5); list = "" }
    /^\.Fa / { list = list (list == "" ? "" : ", ") $2 }
    /^\.Fc/ { print type " " name "(" list ");" }' "$page"
}

names=$(declared || true)
[[ $page == */tamis.3 ]] || [ "$(wc -l <<<"$names")" -ge 2 ] || fail "the header declares too few functions to be true"
same "functions of the synopsis beside the header" "$names" \
    "$(prototypes | sed -E 's/.*[ *]([a-z_]+)\(.*/\1/' | sort)"

# Two declarations of a function that differ do not compile.
{
    echo "#include \"${main_header##*/}\""
    prototypes
} >"$scratch/prototypes.c"
"${CC:?the C compiler}" -std=c11 -Wall -Wextra -Werror -I "$include" -fsyntax-only \
    "$scratch/prototypes.c" || fail "the prototypes of the synopsis are not those of the header"

# described WHAT NAME PATTERN: a line of the page after the synopsis fits.
body=$(sed '1,/^\.Sh DESCRIPTION/d' "$page")
[[ $page != */tamis.3 ]] || body+=$(cat "${page%.3}"_*.3)
described()
{
    grep -qE -- "$3" <<<"$body" || fail "${page##*/} does not describe the $1 $2"
}

for name in $names; do
    described function "$name" "^\.It Fn $name( |$)"
done
errors=$(sed -nE 's/^ *X\((TAMIS_E[A-Z]+),.*/\1/p' "$include/tamis_errors.h")
[ -n "$errors" ] || fail "tamis_errors.h lists no errors"
for name in $errors; do
    [[ $page != */tamis.3 ]] || described error "$name" "^\.It Bq Er $name$"
done
constants=$(sed -nE 's/^#define (TAMIS_[A-Z_0-9]+) .*/\1/p; s/^ +(TAMIS_[A-Z_]+) =.*/\1/p' \
    "$header")
for name in $constants; do
    # Attributes, and a limit that only sizes arrays which the reader never declares.
    case $name in
    TAMIS_API | TAMIS_MUST_CHECK | TAMIS_HASH_SET_NAME_MAX) continue ;;
    esac
    described constant "$name" "Dv $name( |$)"
done

# Members of the structures: "type name;" or "type name[...];", comments taken out.
members=$(sed -E 's://.*$::' "$header" | awk '
    /^struct tamis_[a-z_]+ \{/ { inside = 1; next }
    /^\};/ { inside = 0 }
    inside' | tr '\n' ' ' | sed -E 's:/\*[^*]*\*+([^/*][^*]*\*+)*/::g' | tr ';' '\n' |
    sed -nE 's/.*[ *]([a-z_0-9]+)(\[[^]]*\])? *$/\1/p' | sort -u | sed '/^reserved/d')
for name in $members; do
    described member "$name" "Va $name( |$)"
done
finish
