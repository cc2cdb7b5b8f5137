/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * murmur.h: the pairs of the hash set redisbloom (murmur.c), key by key, and many at once.
 *
 * Each step of MurmurHash64A multiplies what the step before has left, so a key waits for the
 * multiplier most of the time; and b begins where a ends.  But what a step does with the bytes of
 * the key does not depend on the seed: it is done once for both.  With AVX-512, which multiplies 64
 * bits, eight keys go side by side.  (By AVX2, which has to make each product of three, keys side
 * by side take twice as long as one after the other.)  Nanoseconds for both hashes of a key, Zen 4:
 *
 *     bytes                           8     16     30     70    200
 *     the hash called twice         4.5    6.5   11.3   21.0   49.5
 *     one key, mixed once           3.6    4.9    8.0   16.1   48.2
 *     eight keys, AVX-512           4.0    4.1    4.8    8.5   17.1
 */
#pragma once

#include "base/base.h"
#include "hash/digest.h"

#define TAMIS__MURMUR_MULTIPLIER UINT64_C(0xC6A4A7935BD1E995)
#define TAMIS__MURMUR_SEED UINT64_C(0xC6A4A7935BD1E995) /* of a; b has a for its seed */

/* Keys of more whole words are hashed twice, as their words are not kept. */
#define TAMIS__MURMUR_WORDS 32u

/* The last key_bytes % 8 bytes of a key as a little-endian number; 0 if there are none. */
static inline uint64_t tamis__murmur_tail(const uint8_t *key, size_t key_bytes)
{
    const unsigned bytes = key_bytes % 8;
    if (bytes == 0) return 0; /* key may be NULL */
    if (key_bytes > 8) return tamis__get64(key + key_bytes - 8) >> (64 - 8 * bytes);
    const uint8_t *tail = key + (key_bytes - bytes);
    if (bytes >= 4) /* the two reads overlap, and agree there */
        return tamis__get32(tail) | (uint64_t)tamis__get32(tail + bytes - 4) << 8 * (bytes - 4);
    return tail[0] | (uint64_t)tail[bytes / 2] << 8 * (bytes / 2) |
           (uint64_t)tail[bytes - 1] << 8 * (bytes - 1);
}

/* a is `high` and b is `low`. */
struct tamis__digest tamis__murmur_pair(const void *key, size_t key_bytes);

/* The same of many keys. */
void tamis__murmur_pairs_avx512(const struct tamis_key *keys, size_t count,
                                struct tamis__digest *pairs);
