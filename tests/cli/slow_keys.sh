#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# slow_keys.sh TAMIS PRELOAD: what a command tells while a batch of keys takes long, here for the syncs of a durable filter.
# All keys are read at once.  Seen to fail where answers were written, and signals looked at, only when all keys that were
# read were done: the first answer came when the filter had all of them, and SIGTERM was heard then.
set -u
tamis=$1 preload=$2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
export TAMIS_STORE=$work/store
keys=20000
seq "$keys" >input
mkfifo answers
failed=0
fail() {
    echo "FAIL: $*"
    failed=1
}
"$tamis" create seen -n 100k --durable || exit 2

LD_PRELOAD=$preload "$tamis" add --new seen <input >answers 2>told &
adder=$!
exec 3<answers
read -r -t 60 first <&3
[ "$first" = 1 ] || fail "the first answer is '$first'"
items=$("$tamis" info seen items)
[ "$items" -lt "$keys" ] || fail "$items of $keys keys were added before the first answer came"
kill -TERM "$adder"
cat <&3 >rest
wait "$adder"
status=$?
[ "$status" -eq 143 ] || fail "exit status $status after SIGTERM"
answers=$((1 + $(wc -l <rest)))
added=$(sed -n 's/^tamis: stopped by SIGTERM after \([0-9]*\) keys, all of them added and counted$/\1/p' told)
[ "${added:-0}" -eq "$answers" ] || fail "$answers answers; $(cat told)"
[ "$answers" -lt "$keys" ] || fail "SIGTERM was heard after all keys"

# Killed without a chance to say anything: at most the batch in hand is in and was told to nobody.
LD_PRELOAD=$preload "$tamis" add --new seen <input >answers 2>/dev/null &
adder=$!
exec 3<answers
read -r -t 60 first <&3
kill -KILL "$adder"
cat <&3 >rest
wait "$adder" 2>/dev/null
items=$(LD_PRELOAD='' "$tamis" check -c seen <input)
untold=$((items - answers - 1 - $(wc -l <rest)))
[ "$untold" -le 1024 ] || fail "$untold keys are in and were told to nobody"
exit "$failed"
