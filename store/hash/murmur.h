/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * murmur.h: the pairs of the hash set redisbloom (murmur.c), key by key, and many at once; and the
 * hash of guava and pybloomfilter.
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

/* MurmurHash64A.  Its steps, for each 8 bytes, for the rest of the key, and at the end: */
static inline uint64_t tamis__murmur_mix(const uint8_t *bytes)
{
    const uint64_t product = tamis__get64(bytes) * TAMIS__MURMUR_MULTIPLIER;
    return (product ^ product >> 47) * TAMIS__MURMUR_MULTIPLIER;
}

static inline uint64_t tamis__murmur_take(uint64_t h, uint64_t word)
{
    return (h ^ word) * TAMIS__MURMUR_MULTIPLIER;
}

static inline uint64_t tamis__murmur_end(uint64_t h)
{
    h = (h ^ h >> 47) * TAMIS__MURMUR_MULTIPLIER;
    return h ^ h >> 47;
}

static inline uint64_t tamis__murmur(const uint8_t *key, size_t key_bytes, uint64_t seed)
{
    uint64_t h = seed ^ key_bytes * TAMIS__MURMUR_MULTIPLIER;
    for (size_t i = 0; i < key_bytes / 8; i++)
        h = tamis__murmur_take(h, tamis__murmur_mix(key + 8 * i));
    if (key_bytes % 8 != 0) h = tamis__murmur_take(h, tamis__murmur_tail(key, key_bytes));
    return tamis__murmur_end(h);
}

/* a is `high` and b is `low`. */
static inline struct tamis__digest tamis__murmur_pair(const void *key, size_t key_bytes)
{
    const uint8_t *bytes = key;
    const size_t count = key_bytes / 8;
    uint64_t words[TAMIS__MURMUR_WORDS];
    if (count > TAMIS__MURMUR_WORDS) {
        const uint64_t a = tamis__murmur(key, key_bytes, TAMIS__MURMUR_SEED);
        return (struct tamis__digest){.high = a, .low = tamis__murmur(key, key_bytes, a)};
    }
    const uint64_t rest = tamis__murmur_tail(bytes, key_bytes);
    uint64_t a = TAMIS__MURMUR_SEED ^ key_bytes * TAMIS__MURMUR_MULTIPLIER;
    for (size_t i = 0; i < count; i++) {
        words[i] = tamis__murmur_mix(bytes + 8 * i);
        a = tamis__murmur_take(a, words[i]);
    }
    if (key_bytes % 8 != 0) a = tamis__murmur_take(a, rest);
    a = tamis__murmur_end(a);
    uint64_t b = a ^ key_bytes * TAMIS__MURMUR_MULTIPLIER;
    for (size_t i = 0; i < count; i++)
        b = tamis__murmur_take(b, words[i]);
    if (key_bytes % 8 != 0) b = tamis__murmur_take(b, rest);
    return (struct tamis__digest){.high = a, .low = tamis__murmur_end(b)};
}

/* MurmurHash3_x64_128 (murmur.c): h1 is `high`, h2 is `low`. */
struct tamis__digest tamis__murmur3_128(const uint8_t *key, size_t key_bytes, uint32_t seed);

/* tamis__murmur_pair() of many keys (murmur_avx512.c). */
void tamis__murmur_pairs_avx512(const struct tamis_key *keys, size_t count,
                                struct tamis__digest *pairs);
