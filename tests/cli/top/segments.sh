# SPDX-License-Identifier: BSD-2-Clause
# Directory only: reads the headers of files
tamis create grows -n 1000
seq 2500 | tamis add grows
tamis top --segments grows --once --interval 50ms >looks
awk 'NR > 1 { print $1, $2, $3, $NF }' looks
[ "$(awk 'NR > 2 { sum += $4 } END { print sum }' looks)" = "$(tamis info grows items)" ] && echo "the items are those of the filter"
tamis top --segments grows --once --interval 50ms --json --sort capacity | grep -oE '"(name|segment|capacity)":[^,]*'
tamis create window -n 1000 --window 2h --slices 2
seq 500 | tamis add window
tamis rotate window
seq 300 | tamis add window
tamis top --segments window --once --interval 50ms | no_times | sed "s/^0[0-9]*/N               /"
tamis top window --once --interval 50ms | no_times
