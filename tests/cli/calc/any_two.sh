# SPDX-License-Identifier: BSD-2-Clause
tamis calc -n 1M -p 1e-3
tamis calc -n 1M -m 10M
tamis calc -n 1M -k 8
tamis calc -p 1% -m 10M
tamis calc -p 1% -k 6
tamis calc -m 10M -k 8
tamis calc -n 1M -m 10M -k 8
