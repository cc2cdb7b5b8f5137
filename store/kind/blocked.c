/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * blocked.c: the cache-line-blocked Bloom filter (Putze, Sanders, Singler 2007), shared by atomics.
 *
 * A block (block.h) is one cache line: 8 words of 64 bits, z of which a key touches.  So a query reads
 * one line and an add makes at most z atomic ORs, which matters because locked operations do not
 * overlap (about 4.5 ns each even in cache).
 *
 * add follows the last-missing-word rule (docs/concurrency.md): the words are visited in the order
 * of their groups by all adders of a key; NEW is told to the one whose OR on the last word that it
 * had found lacking changed it.
 *
 * z and q are constants in each instance of the loops (k tells both, tamis__blocked_words), so the
 * compiler unrolls the masks.
 */
#include <math.h>

#include "base/point.h"
#include "hash/hash_set.h"
#include "kind/block.h"
#include "kind/kind.h"

struct probe {
    uint64_t *block;
    uint64_t low;
};

TAMIS__INLINE struct probe probe_at(const struct tamis__segment *segment, uint64_t blocks,
                                    struct tamis__digest digest)
{
    return (struct probe){.block = segment->data +
                                   tamis__scale(digest.high, blocks) * TAMIS__BLOCK_WORDS,
                          .low = digest.low};
}

TAMIS__INLINE struct probe probe_of(const struct tamis__segment *segment, uint64_t blocks,
                                    const struct tamis__digester *by, const void *key,
                                    size_t key_bytes)
{
    return probe_at(segment, blocks, tamis__digest_by(by, key, key_bytes));
}

TAMIS__INLINE unsigned test(struct probe probe, unsigned z, unsigned q)
{
    uint64_t lacking = 0;
    for (unsigned i = 0; i < z; i++) {
        const struct tamis__target t = tamis__target_of(probe.low, i, z, q);
        /* ORDER relaxed: a bit says only "this key may be here"; no other memory is inferred. */
        lacking |= t.mask & ~__atomic_load_n(&probe.block[t.word], __ATOMIC_RELAXED);
    }
    return lacking == 0;
}

TAMIS__INLINE unsigned insert(struct probe probe, unsigned z, unsigned q)
{
    struct tamis__target t[4];
    uint64_t lacking[4], any = 0, changed = 0, changed_any = 0;
    for (unsigned i = 0; i < z; i++) {
        t[i] = tamis__target_of(probe.low, i, z, q);
        /* ORDER acquire: pairs with the release below.  Who finds a word full must also see the
         * words that its filler had filled before it, else two adders can both be last (the model
         * has it). Load first: an OR that changes nothing would still take the line and dirty the
         * page. */
        lacking[i] = t[i].mask & ~__atomic_load_n(&probe.block[t[i].word], __ATOMIC_ACQUIRE);
        any |= lacking[i];
        TAMIS__POINT(TAMIS__POINT_ADD_LOADED);
    }
    if (any == 0) return 0;
    for (unsigned i = 0; i < z; i++) {
        if (lacking[i] == 0) continue;
        const uint64_t old =
            __atomic_fetch_or(&probe.block[t[i].word], t[i].mask, __ATOMIC_RELEASE);
        changed = t[i].mask & ~old; /* of the last such word in the end */
        changed_any |= changed;
        TAMIS__POINT(TAMIS__POINT_ADD_ORED);
    }
    return (TAMIS__ANY_BIT_RULE ? changed_any : changed) != 0;
}

/* One loop for all batch calls, of keys or of digests (the other NULL): probe the key TAMIS__RING behind
 * while the line of this one comes in. */
TAMIS__INLINE size_t run(const struct tamis__segment *segment, const struct tamis_key *keys,
                         const struct tamis__digest *digests, size_t count, uint8_t *answers,
                         int adding, unsigned z, unsigned q)
{
    struct probe ring[TAMIS__RING];
    const struct tamis__digester by = tamis__header_digester(segment->header);
    const uint64_t blocks = segment->header->m_bits / TAMIS__BLOCK_BITS;
    size_t ones = 0, counted = 0;
    for (size_t i = 0; i < count + TAMIS__RING; i++) {
        struct probe *slot = &ring[i % TAMIS__RING];
        if (i >= TAMIS__RING && i - TAMIS__RING < count) {
            const unsigned one = adding ? insert(*slot, z, q) : test(*slot, z, q);
            answers[i - TAMIS__RING] = (uint8_t)one;
            ones += one;
            if (adding && i % TAMIS__KEYS_A_COUNT == 0)
                counted = tamis__count_new(segment, ones, counted);
        }
        if (i < count) {
            *slot = digests != NULL ? probe_at(segment, blocks, digests[i])
                                    : probe_of(segment, blocks, &by, keys[i].data, keys[i].bytes);
            if (adding)
                __builtin_prefetch(slot->block, 1, 3);
            else
                __builtin_prefetch(slot->block, 0, 3);
        }
    }
    if (adding) (void)tamis__count_new(segment, ones, counted);
    return ones;
}

/* An instance each for every k. */
TAMIS__INLINE size_t run_any(const struct tamis__segment *segment, const struct tamis_key *keys,
                             const struct tamis__digest *digests, size_t count, uint8_t *answers,
                             int adding)
{
    switch (segment->header->k) {
#define CASE(k, z, q)                                                                              \
    case k:                                                                                        \
        return run(segment, keys, digests, count, answers, adding, z, q);
        TAMIS__FOR_EACH_K(CASE)
#undef CASE
    default:
        return 0;
    }
}

static int64_t add_batch(const struct tamis__segment *segment, const struct tamis_key *keys,
                         size_t count, uint8_t *answers)
{
    return (int64_t)run_any(segment, keys, NULL, count, answers, 1);
}

static size_t contains_batch(const struct tamis__segment *segment, const struct tamis_key *keys,
                             size_t count, uint8_t *answers)
{
    return run_any(segment, keys, NULL, count, answers, 0);
}

static int64_t add_digests(const struct tamis__segment *segment,
                           const struct tamis__digest *digests, size_t count, uint8_t *answers)
{
    static const struct tamis__digest none; /* tells digests from keys where there are 0 of them */
    return (int64_t)run_any(segment, NULL, digests ? digests : &none, count, answers, 1);
}

static size_t contains_digests(const struct tamis__segment *segment,
                               const struct tamis__digest *digests, size_t count, uint8_t *answers)
{
    static const struct tamis__digest none;
    return run_any(segment, NULL, digests ? digests : &none, count, answers, 0);
}

#define CALLS(k, z, q)                                                                             \
    static int add_##k(const struct tamis__segment *segment, struct tamis__digest digest)          \
    {                                                                                              \
        const uint64_t blocks = segment->header->m_bits / TAMIS__BLOCK_BITS;                       \
        return (int)insert(probe_at(segment, blocks, digest), z, q);                               \
    }                                                                                              \
    static int contains_##k(const struct tamis__segment *segment, struct tamis__digest digest)     \
    {                                                                                              \
        const uint64_t blocks = segment->header->m_bits / TAMIS__BLOCK_BITS;                       \
        return (int)test(probe_at(segment, blocks, digest), z, q);                                 \
    }
TAMIS__FOR_EACH_K(CALLS)
#undef CALLS

static const struct tamis__by_digest *by_digest(const struct tamis__segment_header *header)
{
    switch (header->k) {
#define CASE(k, z, q)                                                                              \
    case k: {                                                                                      \
        static const struct tamis__by_digest calls = {.add = add_##k, .contains = contains_##k};   \
        return &calls;                                                                             \
    }
        TAMIS__FOR_EACH_K(CASE)
#undef CASE
    default:
        return NULL;
    }
}

static int add(const struct tamis__segment *segment, const void *key, size_t key_bytes)
{
    const struct tamis__digester by = tamis__header_digester(segment->header);
    const struct tamis__by_digest *calls = by_digest(segment->header);
    return calls ? calls->add(segment, tamis__digest_by(&by, key, key_bytes)) : 0;
}

static int contains(const struct tamis__segment *segment, const void *key, size_t key_bytes)
{
    const struct tamis__digester by = tamis__header_digester(segment->header);
    const struct tamis__by_digest *calls = by_digest(segment->header);
    return calls ? calls->contains(segment, tamis__digest_by(&by, key, key_bytes)) : 0;
}

static int check(const struct tamis__segment_header *header, const char **reason)
{
    const int rc = tamis__check_bits(header, reason);
    if (rc < 0) return rc;
    *reason = "has a geometry that no blocked filter has";
    if (!tamis__is_block_geometry(header)) return TAMIS_ECORRUPT;
    return tamis__check_hash_set(header, reason);
}

void tamis__block_positions(const struct tamis__segment_header *header, const void *key,
                            size_t key_bytes, uint64_t *out)
{
    const struct tamis__digester by = tamis__header_digester(header);
    const struct tamis__digest digest = tamis__digest_by(&by, key, key_bytes);
    const uint64_t block = tamis__scale(digest.high, header->m_bits / TAMIS__BLOCK_BITS);
    const unsigned z = header->words, q = header->k / z, word_bits = z == 2 ? 2 : 1;
    for (unsigned i = 0; i < z; i++) {
        const struct tamis__target t = tamis__target_of(digest.low, i, z, 0);
        const uint64_t x = digest.low * tamis__multipliers[i];
        for (unsigned j = 1; j <= q; j++)
            *out++ = block * TAMIS__BLOCK_BITS + t.word * 64 + (x >> (64 - word_bits - 6 * j) & 63);
    }
}

static unsigned bits_set(const void *data, uint64_t word)
{
    const uint64_t *words = data;
    /* ORDER relaxed: as test() */
    return (unsigned)__builtin_popcountll(__atomic_load_n(&words[word], __ATOMIC_RELAXED));
}

static void measure(const struct tamis__segment *segment, uint64_t *ones, double *fp_rate)
{
    tamis__block_measure(segment, bits_set, segment->data, ones, fp_rate);
}

const struct tamis__kind tamis__kind_blocked = {
    .id = TAMIS_KIND_BLOCKED,
    .name = "blocked",
    .check = check,
    .add = add,
    .contains = contains,
    .add_batch = add_batch,
    .contains_batch = contains_batch,
    .add_digests = add_digests,
    .contains_digests = contains_digests,
    .by_digest = by_digest,
    .positions = tamis__block_positions,
    .measure = measure,
    .merge = tamis__bits_merge,
    .tally = tamis__bits_tally,
};
