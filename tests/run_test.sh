#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# run_test.sh RUN: how tests/run.sh ends.  What it does once all is built, from `core=()` on, runs a project of two tests, one of
# which fails the first time only.  That failure stands, also of a test that is known to fail by chance; of six such tests
# no run is a success.
#
# Seen to fail while a failure that did not come again was forgiven, and with the list left out.
set -euo pipefail

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
sed -n '/^core=()/,$p' "$1" >"$scratch/end.sh"
grep -q ctest "$scratch/end.sh"
cd "$scratch"
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.20)
project(two NONE)
enable_testing()
add_test(NAME first_time_fails COMMAND sh -c "test -e ${CMAKE_BINARY_DIR}/once || { touch ${CMAKE_BINARY_DIR}/once; exit 1; }")
add_test(NAME passes COMMAND true)
END
cmake -S . -B build -G Ninja >said || {
    cat said
    exit 1
}

# run STATUS FLAKES: the end of run.sh, with that list, has that status: 0, or 1 for any other.
run()
{
    local status=0
    mkdir -p tests
    printf '# a comment\n%s\n' "$2" >tests/flakes.txt
    CI=true bash -c 'set -euo pipefail; build=build target=all; source ./end.sh' run.sh >said 2>&1 </dev/null || status=1
    [ "$status" = "$1" ] || {
        echo "FAILED: status $status with the list '$2'; it says:"
        cat said
        exit 1
    }
}

known='2026-11-28 first_time_fails: it is made so'
run 1 ''
run 0 ''
! grep -q 'known to fail' said || exit 1
rm build/once
run 1 "$known"
grep -qxF "$known" said
run 0 "$known"
grep -qxF "$known" said
run 0 "$(yes "$known" | head -n 5)"
run 1 "$(yes "$known" | head -n 6)"
grep -q 'more than five' said
