# SPDX-License-Identifier: BSD-2-Clause
# Without a modulus the functions reach 2^32 bits; capacity and rate are the caller's.
printf '\x80' >string
tamis import old --from redis-bitmap string --hash-set php:fnv -n 5M
tamis info old m_bits
tamis info old capacity
tamis info old items
