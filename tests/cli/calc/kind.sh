# SPDX-License-Identifier: BSD-2-Clause
tamis calc -n 1M -p 1e-3 --kind bloom
tamis calc -n 1M -p 1e-3 --kind blocked
