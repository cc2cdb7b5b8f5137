#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# repeat.sh [RUNS [LOOPS]] [-- CTEST-ARGUMENT...]: run the core RUNS times (20) beside LOOPS busy loops (4), to find tests that
# fail by chance.  Each run gets a line; the output of one that failed is kept, and its name printed.  The exit status is 1 if any
# failed.  The loops end with this script, however that ends.
#
#   tests/repeat.sh                     20 runs of the core beside four loops: an hour or two on two processors
#   tests/repeat.sh 50 8 -- -R backup   one test, fifty times beside eight loops
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$top"
numbers=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    if ! [[ $1 =~ ^[0-9]+$ ]] || [ "${#numbers[@]}" -eq 2 ]; then
        sed -n '4,10s/^# \{0,1\}//p' "$0" >&2
        exit 2
    fi
    numbers+=("$1")
    shift
done
[ $# -eq 0 ] || shift
runs=${numbers[0]-20} busy=${numbers[1]-4}
logs=.build/repeat
mkdir -p "$logs"

tests/run.sh -- -N >"$logs/build" 2>&1 || {
    cat "$logs/build"
    exit 1
}
for ((i = 0; i < busy; i++)); do
    while kill -0 $$; do :; done 2>"$logs/loop" &
done
failed=0
for ((run = 1; run <= runs; run++)); do
    begin=$SECONDS
    if tests/run.sh -- "$@" >"$logs/$run" 2>&1; then
        echo "run $run: $(sed -n '/tests passed/p' "$logs/$run" | tail -n 1), $((SECONDS - begin)) s"
        rm "$logs/$run"
    else
        failed=$((failed + 1))
        echo "run $run: FAILED in $((SECONDS - begin)) s, see $logs/$run"
        sed -n '/The following tests FAILED/,$p' "$logs/$run"
    fi
done
echo "$failed of $runs runs failed beside $busy busy loops"
[ "$failed" -eq 0 ]
