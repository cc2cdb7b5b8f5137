/* SPDX-License-Identifier: BSD-2-Clause */
/* xxh3.c: the hash set xxh3, Tamis' own; xxh3.h has the rule. */
#include "hash/xxh3.h"

#include <inttypes.h>
#include <stdio.h>

#include "hash/hash_set.h"

static void positions(const struct tamis__hashing *hashing, const void *key, size_t key_bytes,
                      uint64_t *places)
{
    struct tamis__walk walk = tamis__walk_start(tamis__digest(key, key_bytes, hashing->seed));
    for (uint32_t i = 0; i < hashing->k; i++)
        places[i] = tamis__walk_next(&walk, hashing->m_bits);
}

static struct tamis__digest digest_of(const struct tamis__hashing *hashing, const void *key,
                                      size_t key_bytes)
{
    return tamis__digest(key, key_bytes, hashing->seed);
}

/* Writes both halves of the digest, the high one first. */
static size_t describe(const struct tamis__hashing *hashing, const void *key, size_t key_bytes,
                       char *text, size_t text_bytes)
{
    const struct tamis__digest digest = tamis__digest(key, key_bytes, hashing->seed);
    return (size_t)snprintf(text, text_bytes, "%016" PRIx64 ",%016" PRIx64, digest.high,
                            digest.low);
}

const struct tamis__hash_set tamis__hash_set_xxh3 = {
    .id = TAMIS__HASH_XXH3,
    .bit_order = TAMIS__BITS_LSB_FIRST,
    .m_bits_max = UINT64_MAX,
    .name = "xxh3",
    .usage = "xxh3",
    .any_kind = true,
    .seeded = true,
    .positions = positions,
    .digest = digest_of,
    .describe = describe,
};
