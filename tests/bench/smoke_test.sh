#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# smoke_test.sh PROGRAM: tamis-bench measures every row of its plan, says the same as JSON, refuses what is wrong,
# and leaves nothing behind, when it is stopped too.  What it measures is not looked at.
set -euo pipefail
program=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/dir"
failures=0

fail()
{
    echo "smoke_test.sh: $1" >&2
    failures=$((failures + 1))
}

# STATUS ARGUMENT...: it ends so; the messages are left in $scratch/err.
ends()
{
    local want=$1 got=0
    shift
    "$program" --dir "$scratch/dir" "$@" >"$scratch/out" 2>"$scratch/err" || got=$?
    [ "$got" = "$want" ] || fail "$* ended with $got, not $want: $(cat "$scratch/err")"
    [ -z "$(ls -A "$scratch/dir")" ] || fail "$* left something behind: $(ls -A "$scratch/dir")"
}

# WORD ARGUMENT...: refused as wrong arguments, with a message that has that word.
refused()
{
    local word=$1
    shift
    ends 2 "$@"
    grep -qF -e "$word" "$scratch/err" || fail "$*: no '$word' in: $(cat "$scratch/err")"
}

ends 0 --smoke --json "$scratch/run.json"
[ "$(wc -l <"$scratch/out")" -gt 150 ] || fail "the table is short"
ends 0 --smoke --grow --json "$scratch/grow.json"
ends 0 --smoke --max-keys 30000 --json "$scratch/sizes.json"
grep -q '^ *30,000  huge ' "$scratch/out" || fail "--max-keys has no row of huge pages"
ends 0 --smoke --max-keys 3000 --pages small
! grep -q '^ *3,000  huge ' "$scratch/out" || fail "--max-keys measures pages that were not asked for"
python3 "$here/smoke_check.py" "$scratch/run.json" "$scratch/grow.json" "$scratch/sizes.json" || fail "the JSON is not as it should be"
mkdir "$scratch/plots"
python3 "$here/plot.py" "$scratch/run.json" "$scratch/grow.json" "$scratch/plots" || fail "plot.py failed"
python3 "$here/plot.py" "$scratch/sizes.json" "$scratch/plots" || fail "plot.py failed on sizes"
[ "$(find "$scratch/plots" -name '*.svg' | wc -l)" = 6 ] || fail "not every plot was made"
printf '# Title\n\n<!-- figures: begin -->\nold\n<!-- figures: end -->\nafter\n' >"$scratch/page.md"
python3 "$here/performance.py" "$scratch/run.json" "$scratch/grow.json" "$scratch/page.md" || fail "performance.py failed"
{ grep -q '^# Title' "$scratch/page.md" && grep -q '^after' "$scratch/page.md" && grep -q '^| batch | hit |' "$scratch/page.md"; } ||
    fail "the page is not as it should be"
printf '<!-- sizes: begin -->\nold\n<!-- sizes: end -->\n' >>"$scratch/page.md"
python3 "$here/performance.py" "$scratch/sizes.json" "$scratch/page.md" || fail "performance.py failed on sizes"
grep -q '^| 30,000 | huge |' "$scratch/page.md" || fail "the page has no figures of sizes"
! grep -q '^old' "$scratch/page.md" || fail "the old figures are still there"

ends 0 --smoke --only '^blocked/8/in/batch/hit/p1$' --json -
python3 - "$scratch/out" <<'CHECK' || fail "--only measured something else"
import json, sys
names = [f["name"] for f in json.load(open(sys.argv[1]))["figures"] if f["call"] != "limit"]
sys.exit(names != ["blocked/8/in/batch/hit/p1"])
CHECK
ends 0 --help
grep -q '^usage: tamis-bench' "$scratch/out" || fail "no help"
ends 0 --smoke --tune
grep -q '^| portable:32 *|' "$scratch/out" || fail "--tune has no row of the portable loops"
grep -q '^| portable:96:far *|' "$scratch/out" || fail "--tune does not fetch into the second cache"
grep -q '^batches out of cache: blocked .* ahead, .*bloom .* into the .* cache$' "$scratch/out" || fail "nothing says what is chosen"
refused '--tune does not go' --tune --grow
refused '--tune does not go' --tune --max-keys 30000
refused "'--fast'" --fast
refused "'--json'" --json
refused "'more'" --smoke more
refused "'9999'" --batch 9999
refused "'-5'" --keys -5
refused "'1e6'" --keys 1e6
refused "--only '('" --only '('
refused 'no figure' --smoke --only nothing/of/this
refused '--quick does not go' --quick --smoke
ends 1 --smoke --json "$scratch/none/run.json"
grep -q 'none/run.json: No such file' "$scratch/err" || fail "no message: $(cat "$scratch/err")"
ends 1 --dir "$scratch/none" --smoke
grep -q 'none: No such file' "$scratch/err" || fail "no message: $(cat "$scratch/err")"
if mount -t tmpfs -o size=100k none "$scratch/dir" 2>"$scratch/err"; then
    ends 1 --smoke
    grep -q 'free\|No space' "$scratch/err" || fail "no room: $(cat "$scratch/err")"
    umount "$scratch/dir"
else
    echo "smoke_test.sh: no file system could be made small: $(cat "$scratch/err")"
fi

# Stopped while it fills a filter of 100 million keys.
"$program" --dir "$scratch/dir" --only '^blocked/8/out' >/dev/null 2>"$scratch/err" &
until [ -n "$(find "$scratch/dir" -name '*.seg')" ]; do sleep 0.01; done
kill -TERM $!
status=0
wait $! || status=$?
[ "$status" = 143 ] || fail "stopped by SIGTERM it ended with $status"
[ -z "$(ls -A "$scratch/dir")" ] || fail "stopped, it left something behind"

[ "$failures" = 0 ]
