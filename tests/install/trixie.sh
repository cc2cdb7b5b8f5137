#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# trixie.sh: `tests/run.sh -- -L unit` in a fresh Debian 13, on a copy of the tree.
#
# Only with TAMIS_TEST_LONG=1: run.sh brings some 700 packages, 400 MB, and everything is compiled.
#
# By hand, in such a Debian, tools/php did not compile: GCC 14 with PHP 8.4 said that answered.value.counted may be used
# uninitialized, which is an error in that build.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
[ "${TAMIS_TEST_LONG:-}" = 1 ] || {
    echo "skipped: TAMIS_TEST_LONG=1 compiles everything in a Debian 13" >&2
    exit 77
}
tools=git
suite=trixie
# shellcheck source=tests/install/debian.sh
. "$here/debian.sh"

fresh base
step "a fresh $suite"
mkdir "$root/src"
git -C "$source" ls-files -z --cached --others --exclude-standard |
    tar -C "$source" -c --null -T - | tar -x --no-same-owner -C "$root/src"
mkdir -p "$root/dev/shm"
inside bash -c 'cd /src && tests/run.sh -- -L "^unit$"' >"$TAMIS_CHROOT/said" 2>&1 || {
    tail -n 100 "$TAMIS_CHROOT/said" >&2
    fail "tests/run.sh -- -L unit"
}
grep 'tests passed' "$TAMIS_CHROOT/said" || fail "tests/run.sh has not said how many tests passed"
step "tests/run.sh -- -L unit passes on Debian $(cat "$root/etc/debian_version")"
