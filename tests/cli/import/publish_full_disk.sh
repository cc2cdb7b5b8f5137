# SPDX-License-Identifier: BSD-2-Clause
# No room for the next generation: the one in force stays, and answers.
seq 1000000 | tamis --store there build large -p 1e-6
tamis --store there export large --to tamis large.tamis
seq 7 | tamis --store there build small
tamis --store there export small --to tamis small.tamis
small_disk 2m
tamis import list --from tamis small.tamis --publish
refused tamis import list --from tamis large.tamis --publish 2>told
no_sizes told
refused tamis import list --from tamis - --publish <large.tamis 2>told
no_sizes told
tamis check list 7 8
tamis generations list | wc -l
ls "$TAMIS_STORE/staging"
tamis verify
