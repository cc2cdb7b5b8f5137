# SPDX-License-Identifier: BSD-2-Clause
# Options of a store on a server are refused for a directory, and the other way round.
# Directory only: has servers of its own
! tamis list --store redis://127.0.0.1:1 2>&1 | grep -q hiredis || skip "needs hiredis"
refused tamis create f -n 1k --shards 4
refused tamis create f -n 1k --shards 0
tamis create f -n 1k
expect 2 tamis add f --replicas 1 k
expect 2 tamis add f --retry-new k
expect 2 tamis add f --no-retry-new k
expect 2 tamis add f --no-retry-new --retry-new k
expect 2 tamis --timeout 5 list
expect 2 tamis add f --timeout 5 k
for option in cacert cert key; do
    expect 2 tamis --$option file list
done
expect 2 tamis list --insecure
expect 2 tamis calc -n 1k -p 1% --insecure
for timeout in 0 500ms 86401 '' x; do
    expect 2 tamis --timeout "$timeout" list
done
for store in redis://127.0.0.1:1 unix:///nowhere/socket; do
    expect 2 tamis --store "$store" create f -n 1k --mode 0660
    expect 2 tamis --store "$store" add f --no-sync k
    expect 2 tamis --store "$store" list
    expect 2 tamis --store "$store" list --timeout 1.5
    expect 2 tamis --store "$store" --timeout 2m verify
    expect 2 tamis --store "$store" --wait 5 list
    expect 2 tamis --store "$store" add --wait 500ms f k
    expect 2 tamis --store "$store" add --wait 1001 f k
    expect 2 tamis --store "$store" add --wait 5 --replicas 5 f k
    expect 2 tamis --store "$store" --cacert file list
    expect 2 tamis --store "$store" --insecure verify
done
expect 2 tamis --store redis://:@ list
for store in redis:127.0.0.1 http://user:secret@127.0.0.1 valkey://127.0.0.1; do
    expect 2 tamis --store "$store" list
    expect 2 tamis --store "$store" create f -n 1k
done
expect 2 tamis --store unix://x/socket list
TAMIS_STORE=redis://127.0.0.1:1 expect 2 tamis check f k
tamis --store redis://127.0.0.1:1 calc -n 1000 -p 1% >/dev/null
