/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * blocked.c: the cache-line-blocked Bloom filter (Putze, Sanders, Singler 2007), shared by atomics.
 *
 * A block (block.h) is one cache line: 8 words of 64 bits, z of which a key touches.  So a query
 * reads one line and an add makes at most z atomic ORs, which matters because locked operations do
 * not overlap (about 4.5 ns each even in cache).
 *
 * How a key is added stands in blocked.h.  The loops over many keys stand in blocked_run.h,
 * compiled once for each set of vector instructions.  This file has what works on one key, and the
 * table of the kind.
 */

#include "kind/blocked.h"

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

/* Returns the bits of word i of the key that the block lacks. */
TAMIS__INLINE uint64_t lacking(struct probe probe, unsigned i, unsigned z, unsigned q)
{
    const struct tamis__target t = tamis__target_of(probe.low, i, z, q);
    /* ORDER relaxed: a bit says only "this key may be here"; no other memory is inferred. */
    return t.mask & ~__atomic_load_n(&probe.block[t.word], __ATOMIC_RELAXED);
}

/* The words are tested by hand, as the compiler does not unroll a loop of two. */
TAMIS__INLINE unsigned test_bits(struct probe probe, unsigned z, unsigned q)
{
    uint64_t all = lacking(probe, 0, z, q) | lacking(probe, 1, z, q);
    if (z == 4) all |= lacking(probe, 2, z, q) | lacking(probe, 3, z, q);
    return all == 0;
}

TAMIS__INLINE unsigned insert_bits(struct probe probe, unsigned z, unsigned q)
{
    uint64_t *word[4], mask[4];
    for (unsigned i = 0; i < z; i++) {
        const struct tamis__target t = tamis__target_of(probe.low, i, z, q);
        word[i] = &probe.block[t.word];
        mask[i] = t.mask;
    }
    return tamis__blocked_insert(word, mask, z);
}

/* Runs the best variant of the loops that this machine has. */
static size_t blocked_run(const struct tamis__segment *segment, const struct tamis_key *keys,
                          const struct tamis__digest *digests, size_t count, uint8_t *answers,
                          int adding, struct tamis__digest *kept)
{
    tamis__blocked_run_fn *fn = tamis__blocked_run_portable;
#ifdef __x86_64__
    const enum tamis__cpu cpu = tamis__block_cpu(segment->header);
    if (cpu == TAMIS__CPU_AVX2) fn = tamis__blocked_run_avx2;
    if (cpu == TAMIS__CPU_AVX512) fn = tamis__blocked_run_avx512;
#endif
    return fn(segment, keys, digests, count, answers, adding, kept);
}

/* The segments are small, so each has fewer than 2^32 blocks. */
static size_t blocked_contains_together(const struct tamis__segment *const *segments,
                                        unsigned segment_count, const struct tamis_key *keys,
                                        const struct tamis__digest *digests, size_t count,
                                        uint8_t *answers, struct tamis__digest *kept)
{
    tamis__blocked_together_fn *fn = tamis__blocked_together_portable;
#ifdef __x86_64__
    const enum tamis__cpu cpu = tamis__cpu();
    if (cpu == TAMIS__CPU_AVX2) fn = tamis__blocked_together_avx2;
    if (cpu == TAMIS__CPU_AVX512) fn = tamis__blocked_together_avx512;
#endif
    return fn(segments, segment_count, keys, digests, count, answers, kept);
}

static int64_t blocked_add_batch(const struct tamis__segment *segment, const struct tamis_key *keys,
                                 size_t count, uint8_t *answers)
{
    return (int64_t)blocked_run(segment, keys, NULL, count, answers, 1, NULL);
}

static size_t blocked_contains_batch(const struct tamis__segment *segment,
                                     const struct tamis_key *keys, size_t count, uint8_t *answers)
{
    return blocked_run(segment, keys, NULL, count, answers, 0, NULL);
}

static size_t blocked_contains_keeping(const struct tamis__segment *segment,
                                       const struct tamis_key *keys, size_t count,
                                       struct tamis__digest *digests, uint8_t *answers)
{
    return blocked_run(segment, keys, NULL, count, answers, 0, digests);
}

static int64_t blocked_add_digests(const struct tamis__segment *segment,
                                   const struct tamis__digest *digests, size_t count,
                                   uint8_t *answers)
{
    return (int64_t)blocked_run(segment, NULL, digests, count, answers, 1, NULL);
}

static size_t blocked_contains_digests(const struct tamis__segment *segment,
                                       const struct tamis__digest *digests, size_t count,
                                       uint8_t *answers)
{
    return blocked_run(segment, NULL, digests, count, answers, 0, NULL);
}

#define DEFINE_CALLS_FOR_K(k, z, q)                                                                \
    static int add_##k(const struct tamis__segment *segment, struct tamis__digest digest)          \
    {                                                                                              \
        const uint64_t blocks = segment->header->m_bits / TAMIS__BLOCK_BITS;                       \
        return (int)insert_bits(probe_at(segment, blocks, digest), z, q);                          \
    }                                                                                              \
    static int contains_##k(const struct tamis__segment *segment, struct tamis__digest digest)     \
    {                                                                                              \
        const uint64_t blocks = segment->header->m_bits / TAMIS__BLOCK_BITS;                       \
        return (int)test_bits(probe_at(segment, blocks, digest), z, q);                            \
    }
TAMIS__FOR_EACH_K(DEFINE_CALLS_FOR_K)
#undef DEFINE_CALLS_FOR_K

static const struct tamis__by_digest *blocked_by_digest(const struct tamis__segment_header *header)
{
    switch (header->k) {
#define CASE_RETURN_CALLS(k, z, q)                                                                 \
    case k: {                                                                                      \
        static const struct tamis__by_digest calls = {.add = add_##k, .contains = contains_##k};   \
        return &calls;                                                                             \
    }
        TAMIS__FOR_EACH_K(CASE_RETURN_CALLS)
#undef CASE_RETURN_CALLS
    default:
        return NULL;
    }
}

static int blocked_add(const struct tamis__segment *segment, const void *key, size_t key_bytes)
{
    const struct tamis__digester by = tamis__header_digester(segment->header);
    const struct tamis__by_digest *calls = blocked_by_digest(segment->header);
    return calls ? calls->add(segment, tamis__digest_by(&by, key, key_bytes)) : 0;
}

static int blocked_contains(const struct tamis__segment *segment, const void *key, size_t key_bytes)
{
    const struct tamis__digester by = tamis__header_digester(segment->header);
    const struct tamis__by_digest *calls = blocked_by_digest(segment->header);
    return calls ? calls->contains(segment, tamis__digest_by(&by, key, key_bytes)) : 0;
}

static void blocked_fetch(const struct tamis__segment *segment, const void *key, size_t key_bytes)
{
    const struct tamis__digester by = tamis__header_digester(segment->header);
    const uint64_t blocks = segment->header->m_bits / TAMIS__BLOCK_BITS;
    __builtin_prefetch(probe_at(segment, blocks, tamis__digest_by(&by, key, key_bytes)).block, 0,
                       3);
}

static int blocked_check(const struct tamis__segment_header *header, const char **reason)
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
    /* ORDER relaxed: as test_bits() */
    return (unsigned)__builtin_popcountll(__atomic_load_n(&words[word], __ATOMIC_RELAXED));
}

static void blocked_measure(const struct tamis__segment *segment, uint64_t *ones, double *fp_rate)
{
    tamis__block_measure(segment, bits_set, segment->data, ones, fp_rate);
}

const struct tamis__kind tamis__kind_blocked = {
    .id = TAMIS_KIND_BLOCKED,
    .check = blocked_check,
    .add = blocked_add,
    .contains = blocked_contains,
    .fetch = blocked_fetch,
    .add_batch = blocked_add_batch,
    .contains_batch = blocked_contains_batch,
    .add_digests = blocked_add_digests,
    .contains_digests = blocked_contains_digests,
    .contains_few = blocked_contains_digests,
    .by_digest = blocked_by_digest,
    .contains_keeping = blocked_contains_keeping,
    .contains_together = blocked_contains_together,
    .positions = tamis__block_positions,
    .measure = blocked_measure,
    .merge = tamis__bits_merge,
    .tally = tamis__bits_tally,
};
