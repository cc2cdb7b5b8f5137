#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# run.sh PHP RUN-TESTS EXTENSION WORK [OPTION...]: the cases of this folder by PHP's own run-tests.php, in a copy, as it writes
# beside them.  Options such as -m (valgrind) go to run-tests.php.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
php=$1 run_tests=$2 extension=$3 work=$4
shift 4
rm -rf "$work"
mkdir -p "$work"
cp "$here"/*.phpt "$here"/*.inc "$work"
[ -f "$run_tests" ] || {
    echo "skipped: php-dev has no run-tests.php" >&2
    exit 77
}
"$php" -n "$run_tests" -p "$php" -n -d "extension=$extension" -q --show-diff "$@" "$work" |
    tee "$work/log"
# A case that is skipped is one that was not run.
grep -Eq '^Tests skipped +: +0 ' "$work/log"
