# SPDX-License-Identifier: BSD-2-Clause
refused tamis except
refused tamis except seen
refused tamis except seen add a
tamis create seen -n 1000
refused tamis except seen
refused tamis except seen forget a
refused tamis except sene add a
refused tamis except sene list
refused tamis except sene remove a
refused tamis except seen list a
refused tamis except seen add --hex xyz
printf '61\nx\n' | refused tamis except seen add --hex
refused tamis except seen add --progress --no-progress a
head -c 70000 /dev/zero | tr '\0' x | refused tamis except seen add
tamis except seen list
