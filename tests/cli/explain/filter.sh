# SPDX-License-Identifier: BSD-2-Clause
tamis create one -n 1000
tamis create two -m 1000003 -k 7 --seed 5
tamis explain one a b
printf 'a\n\n' | tamis explain two
tamis explain two --json a
