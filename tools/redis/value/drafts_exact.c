/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drafts_exact.c: drafts (drafts.h) of filters of RedisBloom itself, with tamis.exact.
 *
 * Their answers are those of RedisBloom's bits, which take some items for known by chance.  Such an
 * item must be answered so while the filter is a draft, and must not be counted.  So the draft has
 * the bits of its items, and its keys are those that have set one.  The filter is made from
 * RedisBloom's head, and gets the same bits by the same keys in the same order.
 */
#include <string.h>

#include "value/draft_parts.h"
#include "value/drafts.h"

#define HASH_TEXT_BYTES ((size_t)64 * TAMIS_K_MAX)

void draft_be_exact(struct value *value, const void *framed, size_t bytes)
{
    struct draft *draft = value->draft;
    const size_t data_bytes = (size_t)(draft->spec.m_bits + 7) / 8;
    struct draft_exact *exact = RedisModule_Calloc(1, sizeof *exact + bytes + data_bytes);
    exact->bits = draft->spec.m_bits;
    exact->hashes = draft->spec.k;
    exact->head_bytes = (uint32_t)bytes;
    exact->head = memcpy(exact + 1, framed, bytes);
    exact->data = exact->head + bytes;
    draft->exact = exact;
    value->exact = true;
}

const void *draft_head(const struct value *value, size_t *bytes)
{
    const struct draft_exact *exact = value->draft->exact;
    *bytes = exact != NULL ? exact->head_bytes : 0;
    return exact != NULL ? exact->head : NULL;
}

/* Where the key goes: `hashes` positions.  False: that cannot be told, which does not happen, as
 * the library has taken the head, and the buffers are as large as can be. */
static bool positions_of(const struct draft_exact *exact, const void *key, size_t bytes,
                         uint64_t positions[TAMIS_K_MAX])
{
    char hashes[HASH_TEXT_BYTES];
    struct tamis_explanation explanation = {.size = sizeof explanation,
                                            .hashes = hashes,
                                            .hashes_bytes = sizeof hashes,
                                            .positions = positions,
                                            .positions_max = TAMIS_K_MAX};
    return tamis_explain("redisbloom", exact->bits, exact->hashes, 0, key, bytes, &explanation) ==
           0;
}

bool draft_bits_have(const struct draft_exact *exact, const void *key, size_t bytes)
{
    uint64_t at[TAMIS_K_MAX];
    bool all = positions_of(exact, key, bytes, at);
    for (uint32_t i = 0; all && i < exact->hashes; i++)
        all &= (exact->data[at[i] / 8] >> at[i] % 8 & 1) != 0;
    return all;
}

void draft_bits_set(struct draft_exact *exact, const void *key, size_t bytes)
{
    uint64_t at[TAMIS_K_MAX];
    const bool known = positions_of(exact, key, bytes, at);
    for (uint32_t i = 0; known && i < exact->hashes; i++)
        exact->data[at[i] / 8] |= (unsigned char)(1u << at[i] % 8);
}
