# SPDX-License-Identifier: BSD-2-Clause
# -c prints how many would have been printed; the status is the same.
tamis create seen -n 1000
tamis add seen a b
printf 'c\nb\nd\na\n\n' | tamis check -c seen
printf 'c\nb\nd\na\n\n' | tamis check -vc seen
expect 1 tamis check -c seen x
tamis check -c --json seen a b c
expect 0 tamis check -cq seen a
