/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * digest.h: the digest of a key, the 128 bits that XXH3 makes of it, inlined where a batch loop
 * needs it; and the XXH3-64 checksum of headers and records.  No other file includes xxhash.h.
 */
#pragma once

#include "base/base.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Wundef"
#pragma GCC diagnostic ignored "-Wshadow"
#define XXH_INLINE_ALL
#include <xxhash.h>
#pragma GCC diagnostic pop

struct tamis__digest {
    uint64_t high;
    uint64_t low;
};

static inline struct tamis__digest tamis__digest(const void *key, size_t key_bytes, uint64_t seed)
{
    TAMIS__POINT_HASHED(1);
    const XXH128_hash_t hash = XXH3_128bits_withSeed(key, key_bytes, seed);
    return (struct tamis__digest){.high = hash.high64, .low = hash.low64};
}

/* The same, inlined whole for keys of at most 16 bytes, for loops in which
 * every instruction counts. */
static inline __attribute__((always_inline)) struct tamis__digest
tamis__digest_at_once(const void *key, size_t key_bytes, uint64_t seed)
{
    if (__builtin_expect(key_bytes > 16, 0)) return tamis__digest(key, key_bytes, seed);
    TAMIS__POINT_HASHED(1);
    const XXH128_hash_t hash =
        XXH3_len_0to16_128b((const uint8_t *)key, key_bytes, XXH3_kSecret, seed);
    return (struct tamis__digest){.high = hash.high64, .low = hash.low64};
}

static inline uint64_t tamis__checksum(const void *bytes, size_t count)
{
    return XXH3_64bits(bytes, count);
}

/* The same checksum with a seed.  Another seed gives other values. */
static inline uint64_t tamis__checksum_from(uint64_t seed, const void *bytes, size_t count)
{
    return XXH3_64bits_withSeed(bytes, count, seed);
}
