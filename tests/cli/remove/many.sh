# SPDX-License-Identifier: BSD-2-Clause
# More than a batch, counters that overflow, several processes.
tamis create hits -n 20k -p 1e-6 --kind counting
for _ in 1 2 3 4; do
    seq 10000 | tamis add hits &
done
wait
yes hot | head -n 100000 | tamis add hits
tamis count hits 1 5000 10000 hot
for _ in 1 2 3; do
    seq 10000 | tamis remove hits &
done
wait
yes hot | head -n 99999 | tamis remove hits
tamis count hits 1 5000 10000 hot
seq 10000 | tamis check -c hits
tamis info hits items
sound
