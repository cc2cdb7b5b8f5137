/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spark.c: the hash sets spark-v1 and spark-v2, those of the Bloom filters of Apache Spark
 * (org.apache.spark.util.sketch.BloomFilterImpl and BloomFilterImplV2).  Both begin with two hashes
 * of 32 bits, h1 = hash(key, seed) and h2 = hash(key, h1), which are signed numbers in Java.
 *
 *     spark-v1   s(i) = (h1 + (i + 1) h2) mod 2^32, signed; its seed is 0
 *                position i = (s(i), or ~s(i) where that is negative) mod m
 *     spark-v2   s(i) = h1 (2^31 - 1) + (i + 1) h2, in 64 bits, signed
 *                position i = (s(i), or ~s(i) where that is negative) mod m
 *
 * No position of version 1 is 2^31 or more, whatever m is; version 2 is there for larger filters.
 *
 * The hash is MurmurHash3_x86_32 but for the bytes after the last whole word.  There each of them,
 * as a signed number, is mixed in as a word of its own.  A long of Java is hashed as its 8 bytes,
 * little-endian, would be.
 */
#include <math.h>

#include "hash/hash_set.h"

static uint32_t rotate_left(uint32_t number, unsigned bits)
{
    return number << bits | number >> (32 - bits);
}

static uint32_t mix_word(uint32_t h, uint32_t word)
{
    h ^= rotate_left(word * 0xCC9E2D51, 15) * 0x1B873593;
    return rotate_left(h, 13) * 5 + 0xE6546B64;
}

static uint32_t hash(const uint8_t *key, size_t key_bytes, uint32_t seed)
{
    const size_t whole = key_bytes / 4 * 4;
    uint32_t h = seed;
    for (size_t i = 0; i < whole; i += 4)
        h = mix_word(h, tamis__get32(key + i));
    for (size_t i = whole; i < key_bytes; i++)
        h = mix_word(h, (uint32_t)(int8_t)key[i]);
    h ^= (uint32_t)key_bytes;
    h = (h ^ h >> 16) * 0x85EBCA6B;
    h = (h ^ h >> 13) * 0xC2B2AE35;
    return h ^ h >> 16;
}

struct hashes {
    uint32_t h1, h2;
};

static struct hashes hashes_of(const struct tamis__hashing *hashing, const void *key,
                               size_t key_bytes)
{
    const uint32_t h1 = hash(key, key_bytes, (uint32_t)hashing->seed);
    return (struct hashes){.h1 = h1, .h2 = hash(key, key_bytes, h1)};
}

static void positions_v1(const struct tamis__hashing *hashing, const void *key, size_t key_bytes,
                         uint64_t *places)
{
    const struct hashes hashes = hashes_of(hashing, key, key_bytes);
    uint32_t sum = hashes.h1;
    for (uint32_t i = 0; i < hashing->k; i++) {
        sum += hashes.h2;
        places[i] = (sum >> 31 ? ~sum : sum) % hashing->m_bits;
    }
}

static void positions_v2(const struct tamis__hashing *hashing, const void *key, size_t key_bytes,
                         uint64_t *places)
{
    const struct hashes hashes = hashes_of(hashing, key, key_bytes);
    /* |sum| is at most 2^62 here and grows by at most 2^31 a step, of which there are fewer than
     * 2^31, so it never overflows. */
    int64_t sum = (int64_t)(int32_t)hashes.h1 * INT32_MAX;
    for (uint32_t i = 0; i < hashing->k; i++) {
        sum += (int32_t)hashes.h2;
        places[i] = (uint64_t)(sum < 0 ? ~sum : sum) % hashing->m_bits;
    }
}

/* No position is 2^31 or more, so the bits below have a larger share than all. */
static double repeats_v1(const struct tamis__hashing *hashing, struct tamis__load load)
{
    const uint64_t jump = ((uint64_t)1 << 32) % hashing->m_bits;
    const double all = load.share, m = (double)hashing->m_bits;
    load.share = fmin(1, all * fmax(1, m / 0x1p31));
    return pow(load.share, hashing->k) - pow(all, hashing->k) +
           tamis__repeat_progression(hashing->m_bits, hashing->k, TAMIS__PROGRESSION_FOLDED, jump,
                                     load);
}

static double repeats_v2(const struct tamis__hashing *hashing, struct tamis__load load)
{
    return tamis__repeat_progression(hashing->m_bits, hashing->k, TAMIS__PROGRESSION_WHOLE, 0,
                                     load);
}

/* Writes h1 and h2 in hexadecimal. */
static size_t spark_describe(const struct tamis__hashing *hashing, const void *key,
                             size_t key_bytes, char *text, size_t text_bytes)
{
    const struct hashes hashes = hashes_of(hashing, key, key_bytes);
    return (size_t)snprintf(text, text_bytes, "%08" PRIx32 ",%08" PRIx32, hashes.h1, hashes.h2);
}

const struct tamis__hash_set tamis__hash_set_spark_v1 = {
    .id = TAMIS__HASH_SPARK_V1,
    .bit_order = TAMIS__BITS_LSB_FIRST,
    .m_bits_max = UINT64_MAX,
    .name = "spark-v1",
    .positions = positions_v1,
    .repeats = repeats_v1,
    .describe = spark_describe,
    .shape = tamis__guava_shape,
};

const struct tamis__hash_set tamis__hash_set_spark_v2 = {
    .id = TAMIS__HASH_SPARK_V2,
    .bit_order = TAMIS__BITS_LSB_FIRST,
    .m_bits_max = UINT64_MAX,
    .seed_max = UINT32_MAX,
    .name = "spark-v2",
    .positions = positions_v2,
    .repeats = repeats_v2,
    .describe = spark_describe,
    .shape = tamis__guava_shape,
};
