# SPDX-License-Identifier: BSD-2-Clause
refused tamis calc
refused tamis calc -n 1M
refused tamis calc -n 0 -p 1%
refused tamis calc -n 1M -p 1
refused tamis calc -n 1M -k 65
refused tamis calc -p 1% --memory 0
refused tamis calc -p 1% --memory 1Mi
refused tamis calc -p 1% --memory 5000000TiB
refused tamis calc -p 1% --memory 1MiB -m 1000
refused tamis calc --table -n 1M
refused tamis calc --table --kind bloom
refused tamis calc -n 1M -p 1% --kind cuckoo
refused tamis calc stray -n 1M -p 1%
refused tamis calc -n 10000000T -p 1e-12
