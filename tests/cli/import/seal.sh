# SPDX-License-Identifier: BSD-2-Clause
# Old keys answer, new ones go into the segment on top and leave the old bits alone.
printf '\x28' >string
tamis import seen --from redis-bitmap string --hash-set php:js,pjw -m 8 --seal -n 1000 -p 1e-6 2>told
tamis add --new seen joker "a new key" "a new key"
tamis check seen joker "a new key" "another key"
tamis info seen --all | grep -E '^(kind|hash_set|capacity|items|segments|note)'
tamis export seen --to tamis both
tamis export seen --to redis-bitmap out
tamis import again --from tamis both
tamis check again joker "a new key" "another key"
