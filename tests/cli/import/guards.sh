# SPDX-License-Identifier: BSD-2-Clause
# Directory only: --publish, which a server does not have.
# --at-least and --max-shrink of import --publish: a list that is much too short publishes nothing.
seq 1000 | tamis build list
seq 400 | tamis --store there build list
tamis --store there export list --to tamis short
refused tamis import list --from tamis short --publish --max-shrink 59%
refused tamis import list --from tamis short --publish --at-least 401
tamis check list 1000
tamis import list --from tamis short --publish --max-shrink 60 --at-least 400
tamis check list 400 1000
refused tamis import list --from tamis short --publish --if-changed --at-least 401
refused tamis import other --from tamis short --at-least 1
refused tamis import other --from tamis short --max-shrink 1
refused tamis import other --from tamis short --publish --expect-comment x
