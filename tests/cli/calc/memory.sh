# SPDX-License-Identifier: BSD-2-Clause
# What fits; -n and -p together take all of the memory (k from m/n, then the rate).
tamis calc --memory 1MiB
tamis calc --memory 1MB -p 1e-3
tamis calc --memory 1MiB -n 500k
tamis calc --memory 1MiB -n 500k -p 1% --json
tamis calc --memory 1MiB -k 8
