# SPDX-License-Identifier: BSD-2-Clause
tamis create seen -n 1000
tamis add seen a b
printf 'c\nb\nd\na\n' | tamis check -v seen
expect 1 tamis check --invert seen a
