# SPDX-License-Identifier: BSD-2-Clause
# --at-least and --max-shrink: a list that is much too short publishes nothing.
seq 1000 | tamis build list --at-least 1k --max-shrink 0
refused tamis build list <<<1 --max-shrink 50
refused tamis build list --at-least 1001 <(seq 1000)
refused tamis build list --max-shrink 29.9% <(seq 700)
tamis build list --max-shrink 30% <(seq 700)
tamis info list items
refused tamis build list --max-shrink much <(seq 700)
refused tamis build list --max-shrink 100.1 <(seq 700)
refused tamis build list --max-shrink -1 <(seq 700)
refused tamis build list --at-least 0 <(seq 700)
tamis generations list | wc -l
