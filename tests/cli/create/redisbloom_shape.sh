# SPDX-License-Identifier: BSD-2-Clause
# m and k are those of BF.RESERVE: 9.585 bits a key, in words of 64, and k rounded up.
tamis create seen -n 1000 -p 1% --hash-set redisbloom --on-full refuse
tamis info seen k
tamis info seen m_bits
