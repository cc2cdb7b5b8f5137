# SPDX-License-Identifier: BSD-2-Clause
# A sealed filter goes on growing above its seal, and the old keys still answer.
tamis create old --hash-set php:djb,fnv -m 100003 2>notes
seq 1 300 | sed 's/^/old /' | tamis add old
tamis export old --to redis-bitmap bits
tamis import new --from redis-bitmap bits --hash-set php:djb,fnv -m 100003 --seal -n 100 -p 1e-4 2>notes
seq 1 1000 | sed 's/^/new /' | tamis add new
tamis info new segments | cut -d , -f 1
tamis info new state
seq 1 300 | sed 's/^/old /' | tamis check -c new
seq 1 1000 | sed 's/^/new /' | tamis check -c new
sound
