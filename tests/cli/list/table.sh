# SPDX-License-Identifier: BSD-2-Clause
tamis create beta -n 1000
tamis create alpha -n 100000 -p 1e-3 --kind bloom
tamis create $'caf\xc3\xa9' -m 1000003 -k 7
seq 1 1000 | tamis add beta
tamis list
