# SPDX-License-Identifier: BSD-2-Clause
# A week is seven days, and a day is 24 hours.
for window in 1w 7d 168h 10080m; do
    tamis create "$window" -n 1000 --window "$window"
    tamis info "$window" window_seconds
done
