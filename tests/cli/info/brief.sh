# SPDX-License-Identifier: BSD-2-Clause
# Twelve lines for any filter, and more only for what the filter has.
# Seen to fail with `info` as it was, which had 33 lines of a plain filter.
tamis create plain -n 1000
tamis create classic -n 1000 --kind bloom -p 1e-9
tamis create window -n 1000 --window 30d --window-from first --durable
tamis create keys --window 10k --slices 4 --pages small
tamis create counts -n 1000 --kind counting
tamis create grown -n 100
tamis create over -n 100 --on-full warn
seq 500 | tamis add grown
seq 500 | tamis add over 2>told
[ "$(tamis info plain | wc -l)" -eq 12 ] || echo "not twelve lines"
tamis info plain | no_times
for name in classic window keys counts grown over; do
    echo "---- $name"
    comm -13 <(tamis info plain | no_times | sort) <(tamis info "$name" | no_times | grep -v ^sealed: | sort) # sealed.sh has that
done
refused tamis info plain --all --json
refused tamis info plain items --all
