/* SPDX-License-Identifier: BSD-2-Clause */
/* xxh3.c: the hash set xxh3, Tamis' own; xxh3.h has the rule. */
#include "hash/xxh3.h"

void tamis__walk_positions(const struct tamis__hashing *hashing, const void *key, size_t key_bytes,
                           uint64_t *places)
{
    struct tamis__walk walk = tamis__walk_start(hashing->set->digest(hashing, key, key_bytes));
    for (uint32_t i = 0; i < hashing->k; i++)
        places[i] = tamis__walk_next(&walk, hashing->m_bits);
}

double tamis__walk_repeats(const struct tamis__hashing *hashing, struct tamis__load load)
{
    return tamis__repeat_walk(hashing->m_bits, hashing->k, load);
}

size_t tamis__walk_describe(const struct tamis__hashing *hashing, const void *key, size_t key_bytes,
                            char *text, size_t text_bytes)
{
    const struct tamis__digest digest = hashing->set->digest(hashing, key, key_bytes);
    return (size_t)snprintf(text, text_bytes, "%016" PRIx64 ",%016" PRIx64, digest.high,
                            digest.low);
}

static struct tamis__digest digest_of(const struct tamis__hashing *hashing, const void *key,
                                      size_t key_bytes)
{
    return tamis__digest(key, key_bytes, hashing->seed);
}

const struct tamis__hash_set tamis__hash_set_xxh3 = {
    .id = TAMIS__HASH_XXH3,
    .bit_order = TAMIS__BITS_LSB_FIRST,
    .m_bits_max = UINT64_MAX,
    .name = "xxh3",
    .any_kind = true,
    .seed_max = UINT64_MAX,
    .positions = tamis__walk_positions,
    .digest = digest_of,
    .repeats = tamis__walk_repeats,
    .describe = tamis__walk_describe,
};
