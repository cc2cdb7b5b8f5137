# SPDX-License-Identifier: BSD-2-Clause
# 1,000 filters of which one has changed: a second backup into the same place writes that filter's file, and no other.
seq -f filter-%.0f 1000 >names
tamis create --names names -n 1000 --seed 1
seq 100 | tamis add filter-7
expect 0 tamis backup copy
touch stamp
until touch later && [ later -nt stamp ]; do :; done # the clock of the files has gone on
seq 101 200 | tamis add filter-7
expect 0 tamis backup copy --json | sed 's/"seconds":[0-9.e-]*/"seconds":S/'
find copy/segments -newer stamp -type f | wc -l
find copy -type f -links +1
ls -d copy*
tamis --store copy info filter-7 items
tamis --store copy verify
tamis backup copy
