# SPDX-License-Identifier: BSD-2-Clause
for name in a b c; do tamis create "$name" -n 1000; done
tamis drop a c a
tamis list -q
tamis drop b
tamis list -q
nothing_left
