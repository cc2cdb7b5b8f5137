/* SPDX-License-Identifier: BSD-2-Clause */
/* hash_set.c: the table of hash sets.  A new one is an entry here, its functions in a file of its
 * own. */
#include "hash/hash_set.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

static void xxh3_positions(const void *key, size_t key_bytes, uint64_t seed, uint64_t m_bits,
                           uint32_t k, uint64_t *positions)
{
    struct tamis__walk walk = tamis__walk_start(tamis__digest(key, key_bytes, seed));
    for (uint32_t i = 0; i < k; i++)
        positions[i] = tamis__walk_next(&walk, m_bits);
}

static size_t xxh3_describe(const void *key, size_t key_bytes, uint64_t seed, char *text,
                            size_t text_bytes)
{
    const struct tamis__digest digest = tamis__digest(key, key_bytes, seed);
    return (size_t)snprintf(text, text_bytes, "%016" PRIx64 ",%016" PRIx64, digest.high,
                            digest.low);
}

static const struct tamis__hash_set hash_sets[] = {
    {TAMIS__HASH_XXH3, "xxh3", xxh3_positions, xxh3_describe},
};

const struct tamis__hash_set *tamis__hash_set_by_id(uint32_t id)
{
    for (size_t i = 0; i < sizeof hash_sets / sizeof hash_sets[0]; i++)
        if (hash_sets[i].id == id) return &hash_sets[i];
    return NULL;
}

const struct tamis__hash_set *tamis__hash_set_by_name(const char *name)
{
    char quoted[TAMIS__QUOTED_BYTES];
    for (size_t i = 0; i < sizeof hash_sets / sizeof hash_sets[0]; i++)
        if (strcmp(hash_sets[i].name, name) == 0) return &hash_sets[i];
    (void)tamis__fail(TAMIS_EINVAL, "there is no hash set %s; this version has xxh3",
                      tamis__quote(quoted, name));
    return NULL;
}
