# SPDX-License-Identifier: BSD-2-Clause
tamis calc -n 1M -p 1e-3 --json
tamis calc -m 1000003 -k 7 --json
