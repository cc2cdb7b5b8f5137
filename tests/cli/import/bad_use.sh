# SPDX-License-Identifier: BSD-2-Clause
printf '\x28' >string
refused tamis import x string
refused tamis import x --from valkey string
refused tamis import x --from https://:secret@host/0 key
refused tamis import x --from redis-bitmap
refused tamis import x --from redis-bitmap string more
refused tamis import x --from redis-bitmap missing --hash-set md5 -m 8 -k 2
refused tamis import x --from redis-bitmap . --hash-set md5 -m 8 -k 2
refused tamis import x --from redis://nowhere
refused tamis import "" --from redis-bitmap string --hash-set md5 -m 8 -k 2
refused tamis import x --from redis-bitmap string --hash-set md5 -m 8 -k 2 --seal
tamis create there -n 100
refused tamis import there --from redis-bitmap string --hash-set php:js -m 8 2>&1 | sed 's/;.*//' # servers know no --publish
refused tamis import x --from redis-bitmap string
refused tamis import x --from redis-bitmap string --hash-set php:js -m 4
refused tamis import x --from redis-bitmap string --hash-set php:js -m 8 -k 2
refused tamis import x --from guava string -m 8
