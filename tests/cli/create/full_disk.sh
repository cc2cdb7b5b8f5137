# SPDX-License-Identifier: BSD-2-Clause
# On a file system with no room left: an error now, nothing made, what was there works on.
small_disk 4m
refused tamis create large -n 10M 2>told
no_sizes told
tamis create seen -n 1000
tamis add seen a
head -c 16m /dev/zero >disk/filler 2>told
refused tamis create more -n 100k 2>told
no_sizes told
tamis add --new seen a b
rm disk/filler
tamis list -q
tamis verify
tamis create more -n 100k
