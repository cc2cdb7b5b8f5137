/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pybloomfilter.c: the hash set pybloomfilter, that of the Python packages pybloomfiltermmap3 and
 * pybloomfiltermmap.  Each filter draws its own seeds, of 32 bits, one for each position:
 *
 *     (h1, h2) = MurmurHash3_x64_128(key, seed i)
 *     position i = (h1 XOR h2) mod m
 *
 * The parameters are the seeds in their order, little-endian, then zeros.  k is where the last seed
 * that is not 0 stands; a filter whose last seed is 0 is not taken.
 */
#include "hash/hash_set.h"
#include "hash/murmur.h"

#define SEEDS_MAX (TAMIS__HASH_PARAMETER_BYTES / 4)

static uint64_t hash_of(const struct tamis__hashing *hashing, uint32_t i, const void *key,
                        size_t key_bytes)
{
    const uint32_t seed = tamis__get32(hashing->parameters + 4 * (size_t)i);
    const struct tamis__digest hash = tamis__murmur3_128(key, key_bytes, seed);
    return hash.high ^ hash.low;
}

static void pybloomfilter_positions(const struct tamis__hashing *hashing, const void *key,
                                    size_t key_bytes, uint64_t *positions)
{
    for (uint32_t i = 0; i < hashing->k; i++)
        positions[i] = hash_of(hashing, i, key, key_bytes) % hashing->m_bits;
}

/* Writes the hashes in hexadecimal. */
static size_t pybloomfilter_describe(const struct tamis__hashing *hashing, const void *key,
                                     size_t key_bytes, char *text, size_t text_bytes)
{
    size_t used = 0;
    if (text_bytes > 0) text[0] = '\0';
    for (uint32_t i = 0; i < hashing->k; i++) {
        char *end = used < text_bytes ? text + used : NULL;
        const size_t room = used < text_bytes ? text_bytes - used : 0;
        used += (size_t)snprintf(end, room, "%s%016" PRIx64, i > 0 ? "," : "",
                                 hash_of(hashing, i, key, key_bytes));
    }
    return used;
}

static uint32_t pybloomfilter_fixed_k(const uint8_t *parameters)
{
    uint32_t k = SEEDS_MAX;
    while (k > 0 && tamis__get32(parameters + 4 * (size_t)(k - 1)) == 0)
        k--;
    return k;
}

/* Reads a number of at most 32 bits in decimal.  Returns what stands behind it, or NULL. */
static const char *parse_seed(const char *text, uint32_t *seed)
{
    uint64_t number = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9' && number <= UINT32_MAX; at++)
        number = 10 * number + (uint64_t)(*at - '0');
    *seed = (uint32_t)number;
    return at > text && number <= UINT32_MAX ? at : NULL;
}

static int pybloomfilter_parse(const char *list, uint8_t *parameters)
{
    uint32_t seed = 0;
    for (size_t i = 0;; i++) {
        const char *end = parse_seed(list, &seed);
        if (end == NULL || (*end != ',' && *end != '\0'))
            return tamis__fail(TAMIS_EINVAL, "hash set pybloomfilter needs its seeds in their "
                                             "order, numbers of 32 bits; give them as in "
                                             "pybloomfilter:17,4,2903");
        if (i == SEEDS_MAX)
            return tamis__fail(TAMIS_EINVAL, "hash set pybloomfilter takes up to %u seeds",
                               SEEDS_MAX);
        memcpy(parameters + 4 * i, &seed, sizeof seed);
        if (*end == '\0') break;
        list = end + 1;
    }
    if (seed == 0)
        return tamis__fail(TAMIS_EINVAL,
                           "the last seed of hash set pybloomfilter may not be 0; give another");
    return 0;
}

static void pybloomfilter_print(const uint8_t *parameters, char *list)
{
    const uint32_t count = pybloomfilter_fixed_k(parameters);
    *list = '\0';
    for (uint32_t i = 0; i < count; i++)
        list +=
            sprintf(list, "%s%" PRIu32, i > 0 ? "," : "", tamis__get32(parameters + 4 * (size_t)i));
}

const struct tamis__hash_set tamis__hash_set_pybloomfilter = {
    .id = TAMIS__HASH_PYBLOOMFILTER,
    .bit_order = TAMIS__BITS_LSB_FIRST,
    .m_bits_max = UINT64_MAX,
    .name = "pybloomfilter",
    .positions = pybloomfilter_positions,
    .describe = pybloomfilter_describe,
    .parse = pybloomfilter_parse,
    .print = pybloomfilter_print,
    .fixed_k = pybloomfilter_fixed_k,
};
