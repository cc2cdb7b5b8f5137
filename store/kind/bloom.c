/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bloom.c: the classic Bloom filter (Bloom 1970), k positions over all m bits, shared by atomics.
 *
 * It costs k cache lines a key where the blocked kind costs one, and needs the fewest bits; its
 * true use is to be, bit for bit, what another system's filter is.
 *
 * add follows the last-missing-word rule (docs/concurrency.md) with single bits for words, in the
 * order of the hash set.  One thing is its own: a key may have a position twice.  Then the second
 * OR of it never changes anything, so the rule is applied to the distinct positions, each standing
 * where it occurs first: the answer is that of the OR on the last position that no earlier one of
 * the lacking ones repeats.  (Were the last OR taken as it is, a key whose last position repeats
 * would never be new; the model shows it.)
 *
 * What the hash set calls position b is bit b of the little-endian words below, or, where the
 * segment's bit order has the most significant bit of each byte first, bit b XOR 7: locate() turns
 * the one into the other, and nothing after it knows of bit orders.
 */
#include <math.h>

#include "base/point.h"
#include "hash/hash_set.h"
#include "hash/xxh3.h"
#include "kind/kind.h"

/* Keys in flight, each with its k lines. */
#define RING 16u

struct place {
    uint64_t positions[TAMIS_K_MAX];
};

/* As the hash set tells them, whatever the bit order. */
static void positions_of(const struct tamis__segment_header *header, const void *key,
                         size_t key_bytes, uint64_t *positions)
{
    const struct tamis__hashing hashing = tamis__header_hashing(header);
    hashing.set->positions(&hashing, key, key_bytes, positions);
}

static void locate_by_table(const struct tamis__segment_header *header, const void *key,
                            size_t key_bytes, struct place *place)
{
    const uint64_t flip = header->bit_order == TAMIS__BITS_MSB_FIRST ? 7 : 0;
    positions_of(header, key, key_bytes, place->positions);
    for (uint32_t i = 0; i < header->k; i++)
        place->positions[i] ^= flip;
}

static inline void walk(const struct tamis__segment_header *header, struct tamis__digest digest,
                        struct place *place)
{
    struct tamis__walk at = tamis__walk_start(digest);
    for (uint32_t i = 0; i < header->k; i++)
        place->positions[i] = tamis__walk_next(&at, header->m_bits);
}

/* Of a hash set that has digests, whose positions are all found by the same walk. */
static inline void locate_digest(const struct tamis__segment_header *header,
                                 struct tamis__digest digest, struct place *place)
{
    const uint64_t flip = header->bit_order == TAMIS__BITS_MSB_FIRST ? 7 : 0;
    walk(header, digest, place);
    for (uint32_t i = 0; flip != 0 && i < header->k; i++)
        place->positions[i] ^= flip;
}

/* xxh3 is inlined here; what other sets cost is their own. */
static void locate(const struct tamis__segment_header *header, const void *key, size_t key_bytes,
                   struct place *place)
{
    if (header->hash_set != TAMIS__HASH_XXH3 || header->bit_order != TAMIS__BITS_LSB_FIRST) {
        locate_by_table(header, key, key_bytes, place);
        return;
    }
    walk(header, tamis__digest(key, key_bytes, header->seed), place);
}

static unsigned test(const uint64_t *data, const struct place *place, uint32_t k)
{
    for (uint32_t i = 0; i < k; i++) {
        const uint64_t position = place->positions[i];
        /* ORDER relaxed: a bit says only "this key may be here"; no other memory is inferred. */
        if (!(__atomic_load_n(&data[position / 64], __ATOMIC_RELAXED) >> (position % 64) & 1))
            return 0;
    }
    return 1;
}

/* The last of the lacking positions that none before it repeats; there is one, the first. */
static unsigned last_distinct(const uint64_t *lacking, unsigned count)
{
    for (unsigned last = count - 1;; last--) {
        unsigned earlier = 0;
        while (earlier < last && lacking[earlier] != lacking[last])
            earlier++;
        if (earlier == last) return last;
    }
}

static unsigned insert(uint64_t *data, const struct place *place, uint32_t k)
{
    uint64_t lacking[TAMIS_K_MAX], changed = 0; /* changed: bit i for lacking[i]; k <= 64 */
    unsigned count = 0;
    for (uint32_t i = 0; i < k; i++) {
        const uint64_t position = place->positions[i];
        /* ORDER acquire: pairs with the release below; see blocked.c. */
        if (!(__atomic_load_n(&data[position / 64], __ATOMIC_ACQUIRE) >> (position % 64) & 1))
            lacking[count++] = position;
        TAMIS__POINT(TAMIS__POINT_ADD_LOADED);
    }
    if (count == 0) return 0;
    for (unsigned i = 0; i < count; i++) {
        const uint64_t mask = (uint64_t)1 << (lacking[i] % 64);
        const uint64_t old = __atomic_fetch_or(&data[lacking[i] / 64], mask, __ATOMIC_RELEASE);
        if (!(old & mask)) changed |= (uint64_t)1 << i;
        TAMIS__POINT(TAMIS__POINT_ADD_ORED);
    }
    if (TAMIS__ANY_BIT_RULE) return changed != 0;
    return changed >> last_distinct(lacking, count) & 1;
}

/* One loop for all batch calls, of keys or of digests (the other NULL): probe the key RING behind while
 * the lines of this one come in. */
static inline __attribute__((always_inline)) size_t run(const struct tamis__segment *segment,
                                                        const struct tamis_key *keys,
                                                        const struct tamis__digest *digests,
                                                        size_t count, uint8_t *answers, int adding)
{
    struct place ring[RING];
    const struct tamis__segment_header *header = segment->header;
    const uint32_t k = header->k;
    size_t ones = 0, counted = 0;
    for (size_t i = 0; i < count + RING; i++) {
        struct place *slot = &ring[i % RING];
        if (i >= RING && i - RING < count) {
            const unsigned one =
                adding ? insert(segment->data, slot, k) : test(segment->data, slot, k);
            answers[i - RING] = (uint8_t)one;
            ones += one;
            if (adding && i % TAMIS__KEYS_A_COUNT == 0)
                counted = tamis__count_new(segment, ones, counted);
        }
        if (i < count) {
            if (digests != NULL)
                locate_digest(header, digests[i], slot);
            else
                locate(header, keys[i].data, keys[i].bytes, slot);
            for (uint32_t j = 0; j < k; j++)
                if (adding)
                    __builtin_prefetch(&segment->data[slot->positions[j] / 64], 1, 3);
                else
                    __builtin_prefetch(&segment->data[slot->positions[j] / 64], 0, 3);
        }
    }
    if (adding) (void)tamis__count_new(segment, ones, counted);
    return ones;
}

static int64_t add_batch(const struct tamis__segment *segment, const struct tamis_key *keys,
                         size_t count, uint8_t *answers)
{
    return (int64_t)run(segment, keys, NULL, count, answers, 1);
}

static size_t contains_batch(const struct tamis__segment *segment, const struct tamis_key *keys,
                             size_t count, uint8_t *answers)
{
    return run(segment, keys, NULL, count, answers, 0);
}

static int64_t add_digests(const struct tamis__segment *segment,
                           const struct tamis__digest *digests, size_t count, uint8_t *answers)
{
    static const struct tamis__digest none; /* tells digests from keys where there are 0 of them */
    return (int64_t)run(segment, NULL, digests ? digests : &none, count, answers, 1);
}

static size_t contains_digests(const struct tamis__segment *segment,
                               const struct tamis__digest *digests, size_t count, uint8_t *answers)
{
    static const struct tamis__digest none;
    return run(segment, NULL, digests ? digests : &none, count, answers, 0);
}

static int add_digest(const struct tamis__segment *segment, struct tamis__digest digest)
{
    struct place place;
    locate_digest(segment->header, digest, &place);
    return (int)insert(segment->data, &place, segment->header->k);
}

static int contains_digest(const struct tamis__segment *segment, struct tamis__digest digest)
{
    struct place place;
    locate_digest(segment->header, digest, &place);
    return (int)test(segment->data, &place, segment->header->k);
}

static const struct tamis__by_digest *by_digest(const struct tamis__segment_header *header)
{
    static const struct tamis__by_digest calls = {.add = add_digest, .contains = contains_digest};
    (void)header;
    return &calls;
}

static int add(const struct tamis__segment *segment, const void *key, size_t key_bytes)
{
    struct place place;
    locate(segment->header, key, key_bytes, &place);
    return (int)insert(segment->data, &place, segment->header->k);
}

static int contains(const struct tamis__segment *segment, const void *key, size_t key_bytes)
{
    struct place place;
    locate(segment->header, key, key_bytes, &place);
    return (int)test(segment->data, &place, segment->header->k);
}

static int check(const struct tamis__segment_header *header, const char **reason)
{
    const int rc = tamis__check_bits(header, reason);
    if (rc < 0) return rc;
    *reason = "has a geometry that no bloom filter has";
    if (header->words != 0) return TAMIS_ECORRUPT;
    return tamis__check_hash_set(header, reason);
}

static void measure(const struct tamis__segment *segment, uint64_t *ones, double *fp_rate)
{
    const struct tamis__segment_header *h = segment->header;
    *ones = 0;
    for (uint64_t i = 0; i < h->data_bytes / 8; i++) { /* ORDER relaxed: as test() */
        if (i % TAMIS__WANT_WORDS == 0) tamis__segment_want(segment, i * 8, TAMIS__WANT_BYTES);
        *ones +=
            (unsigned)__builtin_popcountll(__atomic_load_n(&segment->data[i], __ATOMIC_RELAXED));
    }
    *fp_rate = pow((double)*ones / (double)h->m_bits, h->k);
}

const struct tamis__kind tamis__kind_bloom = {
    .id = TAMIS_KIND_BLOOM,
    .name = "bloom",
    .check = check,
    .add = add,
    .contains = contains,
    .add_batch = add_batch,
    .contains_batch = contains_batch,
    .add_digests = add_digests,
    .contains_digests = contains_digests,
    .by_digest = by_digest,
    .positions = positions_of,
    .measure = measure,
    .merge = tamis__bits_merge,
    .tally = tamis__bits_tally,
};
