# SPDX-License-Identifier: BSD-2-Clause
# A reader that does not read, then a signal: status 128 + 15.
for i in $(seq 20); do tamis create "filter-$i" -n 100; done
mkfifo output
begin tamis report --all -o output
exec 3<output
head -c 1000 <&3 | wc -c
stop_by TERM
