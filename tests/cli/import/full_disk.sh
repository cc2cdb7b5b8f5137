# SPDX-License-Identifier: BSD-2-Clause
# No room: an error with both numbers before anything is read, nothing left.
need_root
mkdir disk
mount -t tmpfs -o size=4m tmpfs disk || skip "mount is not allowed"
printf '\x28' >string
tamis --store disk/store create small -n 100
TAMIS_STORE=disk/store refused tamis import x --from redis-bitmap string --hash-set php:js,pjw 2>told
sed -E 's/[0-9.]+ [KMGTPE]iB \([0-9]+ bytes\)/SIZE/g' told
TAMIS_STORE=disk/store refused tamis import x --from redis-bitmap string --hash-set php-mt -m 64Mi -k 2 2>told
sed -E 's/[0-9.]+ [KMGTPE]iB \([0-9]+ bytes\)/SIZE/g' told
tamis --store disk/store list -q
tamis --store disk/store verify
