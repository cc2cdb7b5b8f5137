# SPDX-License-Identifier: BSD-2-Clause
# The slices of two filters do not begin at one time; one that refuses more when full is merged into.
tamis create w -n 100 --window 1h && tamis create v --like w
refused tamis merge w v
refused tamis merge new w v
tamis create a -n 100 --on-full refuse && tamis create b --like a
seq 1 80 | tamis add a
seq 81 160 | tamis add b
tamis merge a b
seq 1 160 | tamis check -c a
expect 2 tamis add a another
