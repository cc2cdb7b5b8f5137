# SPDX-License-Identifier: BSD-2-Clause
many=$(yes fnv | head -33 | paste -sd,)
refused tamis create x --hash-set php -m 1000
refused tamis create x --hash-set php: -m 1000
refused tamis create x --hash-set php:js, -m 1000
refused tamis create x --hash-set php:,js -m 1000
refused tamis create x --hash-set 'php:js, pjw' -m 1000
refused tamis create x --hash-set php:JS -m 1000
refused tamis create x --hash-set php:crc32 -m 1000
refused tamis create x --hash-set "php:$many" -m 1000
refused tamis create x --hash-set PHP:js -m 1000
refused tamis create x --hash-set md5:1 -m 1000 -k 2
refused tamis create x --hash-set xxh3: -n 1000
refused tamis create x --hash-set '' -n 1000
refused tamis create x --hash-set $'php:\e[31mjs' -m 1000
refused tamis create x --hash-set php:js,pjw -m 1000 -k 3
refused tamis create x --hash-set php:js,pjw -k 2
refused tamis create x --hash-set redisbloom -m 1000
refused tamis create x --hash-set php-mt -m 1000
refused tamis create x --hash-set php-mt -m 1000000 -n 100
refused tamis create x --hash-set php-mt -m 9223372036854775808 -k 1
refused tamis create x --hash-set guava -n 18446744073709551615 -p 1e-12
refused tamis create x --hash-set redisbloom -n 18446744073709551615
refused tamis create x --hash-set guava -n 1000 --seed 1
refused tamis create x --hash-set php:js -m 1000 --seed 1
refused tamis create x --hash-set guava -n 1000 --kind blocked
