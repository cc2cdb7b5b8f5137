/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * murmur.c: the hash sets redisbloom and guava.  Both walk an arithmetic progression that begins
 * with a hash of the Murmur family; they differ in everything else.
 *
 *     redisbloom   a = MurmurHash64A(key, 0xC6A4A7935BD1E995), b = MurmurHash64A(key, a)
 *                  position i = (a + i b mod 2^64) mod m
 *     guava        (h1, h2) = MurmurHash3_x64_128(key, 0)
 *                  position i = ((h1 + i h2 mod 2^64) & (2^63 - 1)) mod m
 */
#include <math.h>

#include "base/cpu.h"
#include "hash/hash_set.h"
#include "hash/murmur.h"
#include "hash/progression.h"

/* Turns a product of a sizing formula into a number of bits.  One that is too large for any filter
 * stays too large. */
static uint64_t to_bits(double bits)
{
    return bits < 9223372036854775808.0 ? (uint64_t)bits : UINT64_MAX;
}

/* ---- RedisBloom ------------------------------------------------------------------------------ */

static struct tamis__digest redisbloom_pair(const void *key, size_t key_bytes,
                                            const uint8_t *secret)
{
    (void)secret;
    TAMIS__POINT_HASHED(1);
    return tamis__murmur_pair(key, key_bytes);
}

static void redisbloom_pairs(const struct tamis_key *keys, size_t count,
                             struct tamis__digest *pairs)
{
    TAMIS__POINT_HASHED(count);
#ifdef __x86_64__
    if (tamis__cpu() == TAMIS__CPU_AVX512) {
        tamis__murmur_pairs_avx512(keys, count, pairs);
        return;
    }
#endif
    for (size_t i = 0; i < count; i++)
        pairs[i] = tamis__murmur_pair(keys[i].data, keys[i].bytes);
}

/* The positions of a pair, for both sets: they differ in the mask. */
static void pair_positions(const struct tamis__hashing *hashing, struct tamis__digest pair,
                           uint64_t *places)
{
    const struct tamis__progression progression =
        tamis__progression(hashing->m_bits, hashing->set->pair_mask);
    tamis__progression_walk(&progression, pair, places, hashing->k);
}

static void redisbloom_positions(const struct tamis__hashing *hashing, const void *key,
                                 size_t key_bytes, uint64_t *places)
{
    pair_positions(hashing, redisbloom_pair(key, key_bytes, NULL), places);
}

static double redisbloom_repeats(const struct tamis__hashing *hashing, struct tamis__load load)
{
    const uint64_t jump = (UINT64_MAX % hashing->m_bits + 1) % hashing->m_bits; /* 2^64 mod m */
    return tamis__repeat_progression(hashing->m_bits, hashing->k, TAMIS__PROGRESSION_WRAPPED, jump,
                                     load);
}

/* Writes a and b in hexadecimal. */
static size_t redisbloom_describe(const struct tamis__hashing *hashing, const void *key,
                                  size_t key_bytes, char *text, size_t text_bytes)
{
    const struct tamis__digest pair = redisbloom_pair(key, key_bytes, NULL);
    (void)hashing;
    return (size_t)snprintf(text, text_bytes, "%016" PRIx64 ",%016" PRIx64, pair.high, pair.low);
}

/* Sizes as BF.RESERVE key error capacity NONSCALING does.  A layer of a scaling filter has
 * half the error. */
static void redisbloom_shape(struct tamis_sizing *sizing)
{
    if (sizing->fp_rate == 0) return;
    const double bits_per_key = -(log(sizing->fp_rate) / 0.480453013918201); /* (ln 2)^2 */
    const uint64_t bits = to_bits((double)sizing->capacity * bits_per_key);
    sizing->k = (uint32_t)ceil(0.693147180559945 * bits_per_key);
    sizing->m_bits = bits == 0 ? 64 : bits > UINT64_MAX / 2 ? bits : (bits + 63) / 64 * 64;
}

const struct tamis__hash_set tamis__hash_set_redisbloom = {
    .id = TAMIS__HASH_REDISBLOOM,
    .bit_order = TAMIS__BITS_LSB_FIRST,
    .m_bits_max = UINT64_MAX,
    .name = "redisbloom",
    .positions = redisbloom_positions,
    .pair = redisbloom_pair,
    .pairs = redisbloom_pairs,
    .pair_mask = UINT64_MAX,
    .repeats = redisbloom_repeats,
    .describe = redisbloom_describe,
    .shape = redisbloom_shape,
};

/* ---- Guava ----------------------------------------------------------------------------------- */

/* The 0 to 8 bytes at `bytes` as a little-endian number. */
static uint64_t tail(const uint8_t *bytes, size_t count)
{
    uint64_t number = 0;
    for (size_t i = 0; i < count; i++)
        number |= (uint64_t)bytes[i] << 8 * i;
    return number;
}

static uint64_t rotate_left(uint64_t number, unsigned bits)
{
    return number << bits | number >> (64 - bits);
}

static uint64_t mix(uint64_t h)
{
    h = (h ^ h >> 33) * 0xFF51AFD7ED558CCD;
    h = (h ^ h >> 33) * 0xC4CEB9FE1A85EC53;
    return h ^ h >> 33;
}

struct tamis__digest tamis__murmur3_128(const uint8_t *key, size_t key_bytes, uint32_t seed)
{
    const uint64_t c1 = 0x87C37B91114253D5, c2 = 0x4CF5AD432745937F;
    uint64_t h1 = seed, h2 = seed;
    size_t left = key_bytes;
    for (; left >= 16; key += 16, left -= 16) {
        h1 ^= rotate_left(tamis__get64(key) * c1, 31) * c2;
        h1 = (rotate_left(h1, 27) + h2) * 5 + 0x52DCE729;
        h2 ^= rotate_left(tamis__get64(key + 8) * c2, 33) * c1;
        h2 = (rotate_left(h2, 31) + h1) * 5 + 0x38495AB5;
    }
    /* An empty half is skipped: it would change nothing, as 0 stays 0 all the way. */
    if (left > 8) h2 ^= rotate_left(tail(key + 8, left - 8) * c2, 33) * c1;
    h1 ^= rotate_left(tail(key, left < 8 ? left : 8) * c1, 31) * c2;
    h1 ^= key_bytes;
    h2 ^= key_bytes;
    h1 += h2;
    h2 += h1;
    h1 = mix(h1);
    h2 = mix(h2);
    h1 += h2;
    return (struct tamis__digest){.high = h1, .low = h2 + h1};
}

/* h1 is `high` and h2 is `low`. */
static struct tamis__digest guava_pair(const void *key, size_t key_bytes, const uint8_t *secret)
{
    (void)secret;
    TAMIS__POINT_HASHED(1);
    return tamis__murmur3_128(key, key_bytes, 0);
}

static void guava_positions(const struct tamis__hashing *hashing, const void *key, size_t key_bytes,
                            uint64_t *places)
{
    pair_positions(hashing, guava_pair(key, key_bytes, NULL), places);
}

static double guava_repeats(const struct tamis__hashing *hashing, struct tamis__load load)
{
    const uint64_t jump = ((uint64_t)1 << 63) % hashing->m_bits;
    return tamis__repeat_progression(hashing->m_bits, hashing->k, TAMIS__PROGRESSION_WRAPPED, jump,
                                     load);
}

/* Writes the 16 bytes of Guava's HashCode in hexadecimal: h1 and h2, least byte first. */
static size_t guava_describe(const struct tamis__hashing *hashing, const void *key,
                             size_t key_bytes, char *text, size_t text_bytes)
{
    const struct tamis__digest hash = tamis__murmur3_128(key, key_bytes, 0);
    (void)hashing;
    return (size_t)snprintf(text, text_bytes, "%016" PRIx64 "%016" PRIx64,
                            __builtin_bswap64(hash.high), __builtin_bswap64(hash.low));
}

/* Sizes as BloomFilter.create(funnel, n, p) of Guava 31 does: k follows from m before m
 * becomes whole longs. */
void tamis__guava_shape(struct tamis_sizing *sizing)
{
    const double ln2 = 0.6931471805599453, n = (double)sizing->capacity;
    if (sizing->fp_rate == 0) return;
    const uint64_t bits = to_bits(-n * log(sizing->fp_rate) / (ln2 * ln2));
    sizing->k = (uint32_t)fmax(1, floor((double)bits / n * ln2 + 0.5));
    sizing->m_bits = bits == 0 ? 64 : bits > UINT64_MAX / 2 ? bits : (bits + 63) / 64 * 64;
}

const struct tamis__hash_set tamis__hash_set_guava = {
    .id = TAMIS__HASH_GUAVA,
    .bit_order = TAMIS__BITS_LSB_FIRST,
    .m_bits_max = UINT64_MAX,
    .name = "guava",
    .positions = guava_positions,
    .pair = guava_pair,
    .pair_mask = INT64_MAX,
    .repeats = guava_repeats,
    .describe = guava_describe,
    .shape = tamis__guava_shape,
};
