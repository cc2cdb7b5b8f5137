#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# urls.sh [--urls N] TAMIS: how many URLs a second on one core lose their other spellings by `tamis uniq`, beside programs that do
# something like it, and how many each keeps: N URLs (300,000), of N / 3 pages in three spellings, in any order.  Beside it stands what
# of these is in the PATH: sort, huniq and runiq (cargo install), anew (go install), uro (pip install), and w3lib.canonicalize_url()
# by the interpreter that $PYTHON names (python3).  At last `tamis add` of a million URLs that are their forms, by each rule.  The best of
# three runs, user and system time.
set -euo pipefail
urls=300000
if [ "${1:-}" = --urls ]; then
    urls=$2 && shift 2
fi
tamis=$(realpath -e -- "${1:?the command}")
work=$(mktemp -d "${TMPDIR:-/dev/shm}/urls.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
pages=$((urls / 3))
awk -v n="$pages" 'BEGIN {
    for (i = 0; i < n; i++) {
        host = sprintf("shop%d.example", i % 977); path = sprintf("/catalogue/item-%d/details", i)
        printf "https://%s%s?colour=%d&size=%d\n", host, path, i % 7, i % 5
        printf "https://%s%s?size=%d&colour=%d#reviews\n", host, path, i % 5, i % 7
        printf "HTTPS://%s:443%s?colour=%d&size=%d\n", toupper(host), path, i % 7, i % 5
    }
}' | shuf --random-source=<(yes 1) >list
lines=$(wc -l <list)
cat >canonical.py <<'X'
import sys
from w3lib.url import canonicalize_url
seen = set()
for line in sys.stdin:
    url = canonicalize_url(line.rstrip("\n"))
    if url not in seen:
        seen.add(url)
        sys.stdout.write(line)
X
prepare() { rm -f anew.txt; } # before each run
measure() { # NAME COMMAND...: reads the list, prints what it keeps
    local name=$1 best
    shift
    best=$(for _ in 1 2 3; do
        prepare
        TIMEFORMAT='%U %S'
        { time taskset -c 0 "$@" <list >kept 2>err; } 2>&1 | awk '{ print $1 + $2 }'
    done | sort -g | head -n 1)
    awk -v f="$name" -v s="$best" -v n="$lines" -v k="$(wc -l <kept)" 'BEGIN { printf "%-42s %9d %12d\n", f, k, n / s }'
}
has() { command -v "$1" >/dev/null; }
printf '%-42s %9s %12s\n' "$lines URLs of $pages pages" kept 'URLs/s'
measure 'tamis uniq' "$tamis" uniq
measure 'tamis uniq --key-rule url' "$tamis" uniq --key-rule url
measure 'tamis uniq --key-rule url:sort' "$tamis" uniq --key-rule url:sort
if "${PYTHON:-python3}" -c 'import w3lib' 2>/dev/null; then
    measure 'w3lib.canonicalize_url and a set' "${PYTHON:-python3}" canonical.py
fi
if has uro; then measure uro uro; fi
if has urldedupe; then measure 'urldedupe -s' urldedupe -s; fi
measure 'sort -u' env LC_ALL=C sort -u --parallel=1
if has huniq; then measure huniq huniq; fi
if has runiq; then measure runiq runiq -; fi
if has anew; then measure anew anew anew.txt; fi
awk 'BEGIN { for (i = 0; i < 1000000; i++)
    printf "https://shop%d.example/catalogue/category-%d/item-%07d/details.html?c=1\n", i % 977, i % 31, i }' >list
lines=1000000
export TAMIS_STORE=$work/store
prepare() {
    rm -rf "$TAMIS_STORE"
    "$tamis" create seen -n 1M --key-rule "$rule"
}
for rule in bytes url url:sort; do
    measure "tamis add, --key-rule $rule" "$tamis" add --no-sync seen
done
