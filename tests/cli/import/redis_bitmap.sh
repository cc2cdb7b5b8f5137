# SPDX-License-Identifier: BSD-2-Clause
# The string that PHP made of 'joker' with a length of 8: bits 2 and 4, the most significant first.
printf '\x28' >string
tamis import old --from redis-bitmap string --hash-set php:js,pjw -m 8 --json | no_times
tamis check old joker jokers
tamis info old note
tamis info old segments
tamis export old --to redis-bitmap - | od -An -tx1
