# SPDX-License-Identifier: BSD-2-Clause
# What would be made is printed, and nothing is made: no filter, no store.
# Directory only: looks at the directory
tamis create seen -n 10k --dry-run --store new
ls new 2>/dev/null
tamis create old -n 1000 -p 1e-4 --kind bloom --on-full refuse
tamis create a -n 1M --dry-run --json
tamis create b --like old --dry-run
printf 'x\ny\n' >names
tamis create --names names -n 100 --dry-run
tamis create w -n 1000 --window 30d --dry-run
tamis create old -n 1000 -p 1e-4 --kind bloom --on-full refuse --dry-run --if-missing
refused tamis create old -n 5 --dry-run
refused tamis create 'a ' -n 5 --dry-run
refused tamis create a -n 1000000G --dry-run 2>/dev/null
refused tamis create a -n 0 --dry-run
tamis list -q
