#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Where cmocka is missing, `cmake -S . -B build` leaves the tests out and says so; it is an error where the
# tests are asked for.  Seen to fail while tests/CMakeLists.txt required cmocka of everybody.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# A pkg-config that does not know cmocka.
cat >"$scratch/pkg-config" <<END
#!/bin/sh
case " \$* " in *" cmocka "*) echo "Package 'cmocka' not found" >&2; exit 1 ;; esac
exec "$PKG_CONFIG_SEEING" "\$@"
END
chmod +x "$scratch/pkg-config"

# configure NAME OPTION...: what it says goes to NAME.log.
configure()
{
    local name=$1
    shift
    "$CMAKE" -S "$TAMIS_SOURCE" -B "$scratch/$name" "$@" >"$scratch/$name.log" 2>&1
}

fail()
{
    echo "$1"
    cat "$scratch"/*.log
    exit 1
}

tests_of()
{
    sed -n 's/^TAMIS_BUILD_TESTS:BOOL=//p' "$scratch/$1/CMakeCache.txt"
}

PKG_CONFIG=$scratch/pkg-config configure without || fail "it does not configure without cmocka"
grep -q 'cmocka is missing, so the tests are left out; to build them, install libcmocka-dev' \
    "$scratch/without.log" || fail "it does not say that the tests are left out"
[ "$(tests_of without)" = OFF ] || fail "the tests are not left out"
[ ! -e "$scratch/without/tests" ] || fail "there are tests without cmocka"
rm "$scratch/without.log"

! PKG_CONFIG=$scratch/pkg-config configure asked -DTAMIS_BUILD_TESTS=ON ||
    fail "the tests that are asked for are left out"
grep -q 'needs cmocka; install libcmocka-dev' "$scratch/asked.log" ||
    fail "it does not say what mends it"

configure with || fail "it does not configure"
[ "$(tests_of with)" = ON ] || fail "the tests are left out though cmocka is there"
