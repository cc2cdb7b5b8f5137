# SPDX-License-Identifier: BSD-2-Clause
# A window is a time or a number of keys, and says which.  "--window 7" made a window of 7 keys beside -n 1M, and
# "--window 30M" one of 30 million keys beside -n 1k, which was then "500 %, ok".
refused tamis create x -n 1M --window 7
refused tamis create x --window 10000
refused tamis create x --window 1e6
refused tamis create x --window 1_000
refused tamis create x --window 0keys
refused tamis create x --window 7key5
refused tamis create x -n 1k --window 30M
refused tamis create x -n 1M --window 7keys
refused tamis create x -n 10001 --window 10k
for window in 7keys 1key 10k 1.5kkeys 10Mkeys; do
    tamis create "$window" --window "$window"
    echo "$window: $(tamis info "$window" window_items) $(tamis info "$window" capacity)"
done
tamis create both -n 10k --window 10000keys
tamis create time -n 10k --window 30m
on_directory tamis create larger --like both -n 20k # the window of keys is the capacity
on_server && tamis create larger --window 20k
for name in both time larger; do
    echo "$name: $(tamis info "$name" window_items) $(tamis info "$name" window_seconds) $(tamis info "$name" capacity)"
done
