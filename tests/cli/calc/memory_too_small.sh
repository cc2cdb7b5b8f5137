# SPDX-License-Identifier: BSD-2-Clause
refused tamis calc --memory 1MiB -n 1M -p 1e-3
refused tamis calc --memory 1MiB -n 1M -p 1e-3 --kind bloom
tamis calc --memory 1250000 -n 1M -p 1%
