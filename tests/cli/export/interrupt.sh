# SPDX-License-Identifier: BSD-2-Clause
# A reader that does not read, then a signal: status 128 + 15.
tamis create seen -n 10M
mkfifo output
begin tamis export seen --to tamis output
exec 3<output
head -c 1000 <&3 | wc -c
stop_by TERM
