# SPDX-License-Identifier: BSD-2-Clause
# Directory only: a server takes a list by TAMIS.LOAD and RENAME.
# --publish: a stream becomes the next generation, of whatever there is.
seq -f host%.0f 1000 | tamis --store there build list -p 0.1%
tamis --store there except list add host7
tamis --store there export list --to tamis one --digest
seq -f host%.0f 501 1500 | tamis --store there build list -p 0.1%
tamis --store there export list --to tamis two --digest
tamis --store there export list --to tamis plain
tail -c +41 two | cmp - plain

echo "-- nothing there yet, then another list, then a filter that counts"
tamis import list --from tamis one --publish
tamis check list host1 host7 host1200
tamis import list --from tamis - --publish --keep 3 <two
tamis check list host1 host7 host1200
tamis info list imported_from
tamis create counts --kind counting -n 100
tamis add counts a
tamis import counts --from tamis plain --publish
tamis check counts a host1200
tamis rollback counts 2>/dev/null
tamis check counts a host1200

echo "-- what is in force is not published again"
tamis import list --from tamis two --publish --if-changed
tamis import list --from tamis two --publish --if-changed --quiet
tamis import list --from tamis plain --publish --if-changed --json | sed 's/,"size.*//'
tamis generations list | cut -c 1-20

echo "-- exceptions: of the file, of the stream"
printf '# ours\nhost600\n' >ours
tamis import list --from tamis two --publish --if-changed --except ours --comments
tamis check list host600 host601
tamis import list --from tamis one --publish
tamis check list host7 host600 host601
tamis import list --from tamis two --publish
tamis check list host7 host600 host601
tamis except list list

echo "-- what is wrong changes nothing"
snapshot >before
head -c 2000 two >short
expect 2 tamis import list --from tamis short --publish
head -c 2000 two | expect 2 tamis import list --from tamis - --publish --if-changed
{ head -c 1000 two; printf X; tail -c +1002 two; } >wrong
expect 2 tamis import list --from tamis wrong --publish
expect 2 tamis import list --from tamis missing --publish
expect 2 tamis import list --from tamis two --publish --except missing
snapshot | cmp - before
expect 2 tamis import list --from tamis two --keep 3
expect 2 tamis import list --from tamis two
expect 2 tamis import list --from tamis - --publish --except - </dev/null
expect 2 tamis export list --to guava x --digest
tamis verify
