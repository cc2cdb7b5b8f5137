# SPDX-License-Identifier: BSD-2-Clause
# Directory only: a server has no headers to look at
refused tamis top --once
tamis create seen -n 1000
refused tamis top --segments
refused tamis top --segments sene --once
refused tamis top --once --sort speed
refused tamis top --once --interval 0
refused tamis top --once --interval 10
refused tamis top --json --human
refused tamis top a b
refused tamis --store redis://localhost:1 top
