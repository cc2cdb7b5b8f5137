# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# lib.sh: what the tests of this directory share.  Sourced.  Gives a scratch directory, $scratch,
# that goes away at the end; the command under test, $TAMIS, as `tamis` on the PATH; and an empty
# TAMIS_STORE.
set -euo pipefail
export LC_ALL=C.UTF-8
unset XDG_STATE_HOME CDPATH BASH_ENV ENV

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"
ln -s "${TAMIS:?the path of the tamis command}" "$scratch/bin/tamis"
PATH=$scratch/bin:$PATH
export TAMIS_STORE=$scratch/store

failures=0

fail()
{
    printf '%s\n' "$*" >&2
    failures=$((failures + 1))
}

# For what no further test makes sense after.
die()
{
    fail "$*"
    exit 1
}

# same WHAT EXPECTED GOT: fail, and show the difference, unless both texts are equal.
same()
{
    [ "$2" = "$3" ] && return
    fail "$1: expected (-) and got (+):"
    diff -u <(printf '%s\n' "$2") <(printf '%s\n' "$3") | tail -n +3 >&2 || true
}

# The last command of each test.
finish()
{
    [ "$failures" -eq 0 ] || {
        printf '%d failed\n' "$failures" >&2
        exit 1
    }
}

# need PROGRAM: skip the test where that is not installed.
need()
{
    command -v "$1" >/dev/null || {
        printf 'skipped: %s is not installed\n' "$1" >&2
        exit 77
    }
}

# Was the command built without libmd?
without_md5()
{
    [[ $(tamis explain --hash-set md5 -m 8 -k 1 key 2>&1) == *'needs libmd'* ]]
}

# The subcommands, as `tamis help` lists them.
commands()
{
    tamis help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p'
}

# help_options COMMAND: its options as --help lists them, one a line, sorted; those that take a
# value end with a =, as in --rate=.  A line there is "  -p, --rate P        what it does".  One that
# may stand with or without a value (--comments[=PREFIX]) counts as without: the next word is never it.
help_options()
{
    local line names value name
    tamis "$1" --help | while IFS= read -r line; do
        [[ $line =~ ^\ \ (-[a-zA-Z],\ |\ \ \ \ )(--[a-z-]+)(\ [A-Z/]+)?(\[=[A-Z]+\])?(\ |$) ]] || continue
        names="${BASH_REMATCH[1]} ${BASH_REMATCH[2]}" value=${BASH_REMATCH[3]}
        for name in ${names//,/}; do
            printf '%s\n' "$name${value:+=}"
        done
    done | sort
}

# known_fields FILTER: the fields of `tamis info`, in one line, as its own message lists them.
known_fields()
{
    tamis info "$1" no-such-field 2>&1 | sed -n 's/.* the fields are: //p'
}
