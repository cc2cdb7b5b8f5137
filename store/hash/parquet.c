/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parquet.c: the hash set parquet, that of the split-block Bloom filters in Parquet files
 * (BloomFilter.md of the project parquet-format).
 *
 *     h = XXH64(key, seed 0); its high half picks a block of 256 bits, its low half the bits:
 *
 *     block                                   lane 0      lane 1            lane 7
 *     +-----------+-----------+--   --+      +-----------+-----------+--  --+-----------+
 *     | 256 bits  |           |  ...  |  ->  | one of 32 | one of 32 |      | one of 32 |
 *     +-----------+-----------+--   --+      +-----------+-----------+--  --+-----------+
 *
 *     position i = 256 ((h >> 32) blocks >> 32) + 32 i + ((h mod 2^32) salt(i) mod 2^32 >> 27)
 *
 * A lane is a little-endian word of 32 bits, so position b is bit b % 8 of byte b / 8.  As all bits
 * of a key are in one block, and blocks fill unevenly, the rate is above that of a classic filter.
 */
#include <math.h>

#include "hash/hash_set.h"

#include "hash/digest.h"

#define BLOCK_BITS 256u
#define LANES 8u
#define LANE_BITS 32u

static const uint32_t salts[LANES] = {0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D,
                                      0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31};

/* The empty key may be NULL, and XXH64 reckons with its address. */
static uint64_t hash_of(const void *key, size_t key_bytes)
{
    return XXH64(key != NULL ? key : "", key_bytes, 0);
}

static void parquet_positions(const struct tamis__hashing *hashing, const void *key,
                              size_t key_bytes, uint64_t *places)
{
    const uint64_t hash = hash_of(key, key_bytes), blocks = hashing->m_bits / BLOCK_BITS;
    const uint64_t begin = ((hash >> 32) * blocks >> 32) * BLOCK_BITS;
    for (uint32_t i = 0; i < LANES; i++)
        places[i] = begin + (uint64_t)i * LANE_BITS + ((uint32_t)hash * salts[i] >> 27);
}

/* The mean over the loads of blocks, which are binomial, and what x^8 says less. */
static double parquet_repeats(const struct tamis__hashing *hashing, struct tamis__load load)
{
    const double blocks = (double)hashing->m_bits / BLOCK_BITS, n = round(load.items);
    const double mean = n / blocks, lowest = floor(fmax(0, mean - 9 * sqrt(mean) - 9));
    double weight = 1, total = 0, sum = 0;
    if (blocks < 2 || n < 1 || mean > 1000) return 0;
    for (double L = lowest; L <= n && !(L > mean && weight < 1e-12 * total); L++) {
        sum += weight * pow(-expm1(L * log1p(-1.0 / LANE_BITS)), LANES);
        total += weight;
        weight *= (n - L) / ((L + 1) * (blocks - 1));
    }
    return fmax(0, sum / total - pow(load.share, LANES));
}

/* Writes the hash in hexadecimal. */
static size_t parquet_describe(const struct tamis__hashing *hashing, const void *key,
                               size_t key_bytes, char *text, size_t text_bytes)
{
    (void)hashing;
    return (size_t)snprintf(text, text_bytes, "%016" PRIx64, hash_of(key, key_bytes));
}

static const char *parquet_weakness(const uint8_t *parameters)
{
    (void)parameters;
    return "all bits of a key are in one block of 256, so the false-positive rate is above what m "
           "and k promise; see docs/hash-sets.md";
}

static uint32_t parquet_fixed_k(const uint8_t *parameters)
{
    (void)parameters;
    return LANES;
}

/* Sizes as the writer in C++ does: by the formula of the specification, which leaves the uneven
 * blocks out, and then up to a power of two.  It stops at 128 MiB, whatever rate that gives; here m
 * goes on.  (The writer in Java sometimes takes the next power of two.) */
static void parquet_shape(struct tamis_sizing *sizing)
{
    if (sizing->fp_rate == 0) return;
    const double bits = -8 * (double)sizing->capacity / log(1 - pow(sizing->fp_rate, 1.0 / LANES));
    uint64_t m_bits = BLOCK_BITS;
    while ((double)m_bits < bits && m_bits < UINT64_MAX / 2)
        m_bits *= 2;
    sizing->m_bits = m_bits;
}

const struct tamis__hash_set tamis__hash_set_parquet = {
    .id = TAMIS__HASH_PARQUET,
    .bit_order = TAMIS__BITS_LSB_FIRST,
    .m_bits_max = (uint64_t)BLOCK_BITS << 32, /* 32 bits of the hash pick the block */
    .m_bits_unit = BLOCK_BITS,
    .name = "parquet",
    .positions = parquet_positions,
    .repeats = parquet_repeats,
    .describe = parquet_describe,
    .weakness = parquet_weakness,
    .fixed_k = parquet_fixed_k,
    .shape = parquet_shape,
};
