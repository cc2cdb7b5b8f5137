# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Options of a store on a server are refused for a directory, and the other way round.
# Directory only: has servers of its own
! tamis list --store redis://127.0.0.1:1 2>&1 | grep -q hiredis || skip "needs hiredis"
refused tamis create f -n 1k --shards 4
refused tamis create f -n 1k --shards 0
tamis create f -n 1k
expect 2 tamis add f --replicas 1 k
expect 2 tamis add f --doubt seen k
expect 2 tamis add f --doubt maybe k
for store in redis://127.0.0.1:1 unix:///nowhere/socket; do
    expect 2 tamis --store "$store" create f -n 1k --mode 0660
    expect 2 tamis --store "$store" add f --no-sync k
    expect 2 tamis --store "$store" list
    expect 2 tamis --store "$store" verify
done
expect 2 tamis --store redis://:@ list
expect 2 tamis --store unix://x/socket list
TAMIS_STORE=redis://127.0.0.1:1 expect 2 tamis check f k
tamis --store redis://127.0.0.1:1 calc -n 1000 -p 1% >/dev/null
