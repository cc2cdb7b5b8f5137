/* SPDX-License-Identifier: BSD-2-Clause */
/* murmur_avx512.c: the pairs of the hash set redisbloom, for eight keys side by side: murmur.h. */
#include "hash/murmur.h"

#define LANES 8u
#define M TAMIS__MURMUR_MULTIPLIER

typedef uint64_t lanes __attribute__((vector_size(8 * LANES)));

/* Eight keys: word j of all of them is words[j].  Where a key has no word j, that lane is left as
 * it was. */
struct group {
    lanes words[TAMIS__MURMUR_WORDS];
    lanes bytes, whole; /* the length of each key, and how many whole words that is */
    lanes tails;
    size_t least, most; /* whole words of the shortest and of the longest key */
};

/* Returns false if a key is too long. */
static bool take(const struct tamis_key *keys, struct group *group)
{
    group->least = TAMIS__MURMUR_WORDS;
    group->most = 0;
    for (unsigned i = 0; i < LANES; i++) {
        const uint8_t *key = keys[i].data;
        const size_t words = keys[i].bytes / 8;
        if (words > TAMIS__MURMUR_WORDS) return false;
        for (size_t j = 0; j < words; j++)
            memcpy((char *)&group->words[j] + 8 * i, key + 8 * j, 8);
        group->bytes[i] = keys[i].bytes;
        group->tails[i] = tamis__murmur_tail(key, keys[i].bytes);
        if (words < group->least) group->least = words;
        if (words > group->most) group->most = words;
    }
    group->whole = group->bytes >> 3;
    return true;
}

/* What the bytes of the keys give to each step of both hashes. */
static void mix(struct group *group)
{
    for (size_t j = 0; j < group->most; j++) {
        const lanes product = group->words[j] * M;
        group->words[j] = (product ^ product >> 47) * M;
    }
}

/* `now` in the lanes that are live, which have all bits set, and `was` in the others. */
static inline lanes choose(lanes live, lanes now, lanes was)
{
    return (now & live) | (was & ~live);
}

static lanes hash(const struct group *group, lanes seeds)
{
    lanes h = seeds ^ group->bytes * M;
    for (size_t j = 0; j < group->least; j++)
        h = (h ^ group->words[j]) * M;
    for (size_t j = group->least; j < group->most; j++)
        h = choose((lanes)(group->whole > j), (h ^ group->words[j]) * M, h);
    h = choose((lanes)((group->bytes & 7) != 0), (h ^ group->tails) * M, h);
    h = (h ^ h >> 47) * M;
    return h ^ h >> 47;
}

void tamis__murmur_pairs_avx512(const struct tamis_key *keys, size_t count,
                                struct tamis__digest *pairs)
{
    struct group group;
    for (; count >= LANES; keys += LANES, pairs += LANES, count -= LANES) {
        if (!take(keys, &group)) {
            for (unsigned i = 0; i < LANES; i++)
                pairs[i] = tamis__murmur_pair(keys[i].data, keys[i].bytes);
            continue;
        }
        mix(&group);
        const lanes a = hash(&group, (lanes){0} + TAMIS__MURMUR_SEED), b = hash(&group, a);
        for (unsigned i = 0; i < LANES; i++)
            pairs[i] = (struct tamis__digest){.high = a[i], .low = b[i]};
    }
    for (size_t i = 0; i < count; i++)
        pairs[i] = tamis__murmur_pair(keys[i].data, keys[i].bytes);
}
