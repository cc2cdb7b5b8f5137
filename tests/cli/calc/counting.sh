# SPDX-License-Identifier: BSD-2-Clause
tamis calc -n 1M -p 1% --kind counting
tamis calc -n 1M -p 1% --kind counting --counter-bits 16
tamis calc --memory 64MiB -p 1% --kind counting
tamis calc --memory 64MiB -n 5M --kind counting --counter-bits 8
tamis calc -n 1M -p 1% --kind counting --json
refused tamis calc -n 1M -p 1% --kind counting --counter-bits 6
refused tamis calc -n 1M -k 7 --kind counting
