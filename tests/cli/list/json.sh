# SPDX-License-Identifier: BSD-2-Clause
tamis create beta -n 1000
tamis create alpha -n 1000 --seed 18446744073709551615
tamis add beta a
tamis list --json | no_times
refused tamis list --json -q
