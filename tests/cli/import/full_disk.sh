# SPDX-License-Identifier: BSD-2-Clause
# No room: an error with both numbers before anything is read, nothing left.
small_disk 4m
printf '\x28' >string
tamis create small -n 100
refused tamis import x --from redis-bitmap string --hash-set php:js,pjw 2>told
no_sizes told
refused tamis import x --from redis-bitmap string --hash-set php-mt -m 64Mi -k 2 2>told
no_sizes told
tamis list -q
tamis verify
