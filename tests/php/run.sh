#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# run.sh PHP RUN-TESTS EXTENSION STUBS WORK [OPTION...]: the cases of this folder by PHP's own run-tests.php, in a copy, as it
# writes beside them.  Options such as -m (valgrind) go to run-tests.php.  TAMIS_PHP is how a case starts a PHP of its own.
# TAMIS_PHP_ASAN is AddressSanitizer's library, loaded before php and not before this shell.
#
# run-tests.php by itself gives up a case that prints nothing for a minute, as on a busy machine one that works does (seen with a
# limit of 1 second).  A case that hangs is ended by ctest, which has a limit for all tests.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
php=$1 run_tests=$2 extension=$3 stubs=$4 work=$5
shift 5
rm -rf "$work"
mkdir -p "$work"
cp "$here"/*.phpt "$here"/*.inc "$work"
[ -f "$run_tests" ] || {
    echo "skipped: php-dev has no run-tests.php" >&2
    exit 77
}
export TAMIS_PHP="$php -n -d extension=$extension" TAMIS_PHP_STUBS=$stubs
environment=()
[ -z "${TAMIS_PHP_ASAN-}" ] || environment=("LD_PRELOAD=$TAMIS_PHP_ASAN" USE_ZEND_ALLOC=0 ZEND_DONT_UNLOAD_MODULES=1)
env "${environment[@]}" "$php" -n "$run_tests" -p "$php" -n -d "extension=$extension" -q --set-timeout 86400 --show-diff "$@" "$work" |
    tee "$work/log"
# A case that is skipped is one that was not run.
grep -Eq '^Tests skipped +: +0 ' "$work/log"
