# SPDX-License-Identifier: BSD-2-Clause
# Raw values and positions of each hash set (the values are of the recorded vectors).
# Directory only: looks at the bits in the files
tamis explain --hash-set php:js,pjw,elf,bkdr,sdbm,djb,dek,fnv -m 4Gi joker
tamis explain --hash-set php:js,pjw -m 8 -k 2 joker
tamis explain --hash-set php:js,js -m 18446744073709551615 joker
tamis explain --hash-set php-mt -m 20000000 -k 14 a
tamis explain --hash-set php-mt-legacy -m 20000000 -k 14 a
tamis explain --hash-set redisbloom -m 11072 -k 8 joker
tamis explain --hash-set guava -m 9600 -k 7 joker --json
printf '\n61\n' | tamis explain --hash-set guava -m 64 -k 1 --hex
# A filter tells positions as its hash set has them, whatever their place in a byte.
tamis create comments --hash-set php:js,pjw -m 8
tamis explain comments joker
tamis add comments joker
offset=$(tamis info comments --json | grep -o '"data_offset":[0-9]*' | cut -d: -f2)
od -An -tx1 -j "$offset" -N 2 "$TAMIS_STORE"/segments/*.seg
