# SPDX-License-Identifier: BSD-2-Clause
# While four processes add, the copy has all that was added before it.
tamis create seen -n 10k --on-full grow
seq 1000 | tamis add seen
for worker in 1 2 3 4; do
    seq -f "$worker.%.0f" 100000 | tamis add seen &
done
for copy in 1 2 3; do
    tamis backup "copy.$copy"
    seq 1000 | tamis --store "copy.$copy" check -c seen
    tamis --store "copy.$copy" verify
done
wait
seq -f 1.%.0f 100000 | tamis check -c seen
