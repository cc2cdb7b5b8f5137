/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * md5.c: the hash set md5, of Python programs: position i of a key is
 *
 *     int(md5(key + str(i)).hexdigest(), 16) % m        i = 0 .. k-1
 *
 * MD5 comes from the libmd package.  A library that is built without it knows the set and refuses
 * to use it.
 *
 * The digits follow the key directly, so position 10 of "a" is position 0 of "a1".  That weakens
 * nothing until k is past 10, and then only for keys that continue another key.
 */
#include "hash/hash_set.h"

#if TAMIS_WITH_MD5
#include <md5.h>

/* Computes md5(key, i) for i = 0, 1, ...: the key is hashed once, and the digits on a copy
 * of the state. */
struct series {
    MD5_CTX key;
    uint32_t i;
};

static void start_series(struct series *series, const void *key, size_t key_bytes)
{
    MD5Init(&series->key);
    if (key_bytes > 0) MD5Update(&series->key, key, key_bytes);
    series->i = 0;
}

static void next(struct series *series, uint8_t digest[MD5_DIGEST_LENGTH])
{
    char digits[16];
    const int count = snprintf(digits, sizeof digits, "%" PRIu32, series->i++);
    MD5_CTX copy = series->key;
    MD5Update(&copy, (const uint8_t *)digits, (size_t)count);
    MD5Final(digest, &copy);
}

static void md5_positions(const struct tamis__hashing *hashing, const void *key, size_t key_bytes,
                          uint64_t *places)
{
    struct series series;
    start_series(&series, key, key_bytes);
    for (uint32_t i = 0; i < hashing->k; i++) {
        uint8_t digest[MD5_DIGEST_LENGTH];
        next(&series, digest);
        const uint64_t high = __builtin_bswap64(tamis__get64(digest));
        const uint64_t low = __builtin_bswap64(tamis__get64(digest + 8));
        places[i] = (uint64_t)(((tamis__u128)high << 64 | low) % hashing->m_bits);
    }
}

/* Writes the k digests in hexadecimal. */
static size_t md5_describe(const struct tamis__hashing *hashing, const void *key, size_t key_bytes,
                           char *text, size_t text_bytes)
{
    struct series series;
    size_t used = 0;
    start_series(&series, key, key_bytes);
    for (uint32_t i = 0; i < hashing->k; i++) {
        uint8_t digest[MD5_DIGEST_LENGTH];
        char piece[2 * MD5_DIGEST_LENGTH + 2];
        next(&series, digest);
        int bytes = snprintf(piece, sizeof piece, "%s", i > 0 ? "," : "");
        for (size_t j = 0; j < sizeof digest; j++)
            bytes += snprintf(piece + bytes, sizeof piece - (size_t)bytes, "%02x", digest[j]);
        if (used < text_bytes) (void)snprintf(text + used, text_bytes - used, "%s", piece);
        used += (size_t)bytes;
    }
    return used;
}

#endif

const struct tamis__hash_set tamis__hash_set_md5 = {
    .id = TAMIS__HASH_MD5,
    .bit_order = TAMIS__BITS_MSB_FIRST,
    .m_bits_max = UINT64_MAX,
    .name = "md5",
#if TAMIS_WITH_MD5
    .positions = md5_positions,
    .describe = md5_describe,
#else
    .missing = "needs libmd, which this build is without; install the package libmd-dev and build "
               "Tamis with TAMIS_WITH_MD5=ON",
#endif
};
