# SPDX-License-Identifier: BSD-2-Clause
# On a file system with no room left: an error now, nothing made, what was there works on.
need_root
mkdir disk
mount -t tmpfs -o size=4m tmpfs disk || skip "mount is not allowed"
export TAMIS_STORE=$SCRATCH/disk/store
refused tamis create large -n 10M 2>told
sed -E 's/[0-9.]+ [KMGTPE]iB \([0-9]+ bytes\)/SIZE/g' told
tamis create seen -n 1000
tamis add seen a
head -c 16m /dev/zero >disk/filler 2>told
refused tamis create more -n 100k 2>told
sed -E 's/[0-9.]+ [KMGTPE]?i?B( \([0-9]+ bytes\))?/SIZE/g' told
tamis add --new seen a b
rm disk/filler
tamis list -q
tamis verify
tamis create more -n 100k
