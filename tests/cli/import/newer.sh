# SPDX-License-Identifier: BSD-2-Clause
# Directory only: --publish, which a server does not have.
# --newer-than-mine: a list that was made before the one in force is refused.  (All rules: import_newer_test.)
seq 100 | tamis --store there build list -p 0.1%
tamis --store there export list --to tamis one
seq 200 | tamis --store there build list -p 0.1%
tamis --store there export list --to tamis two
tamis --store there except list add 7
tamis --store there export list --to tamis three
tamis import list --from tamis one --publish --newer-than-mine
tamis import list --from tamis two --publish --newer-than-mine
tamis import list --from tamis two --publish --newer-than-mine
refused tamis import list --from tamis one --publish --newer-than-mine 2>&1 | no_times
refused tamis import list --from tamis three --publish --newer-than-mine 2>&1 | no_times
tamis check list 7 200
tamis --store there create guava -n 100 --kind bloom --hash-set guava
tamis --store there export guava --to guava four
refused tamis import four --from guava four --publish --newer-than-mine
refused tamis import five --from tamis one --newer-than-mine
tamis import list --from tamis one --publish
tamis check list 7 200
