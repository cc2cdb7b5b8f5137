/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * blocked_run.h: the loops over keys of the blocked kind.  The file is included once for each set
 * of vector instructions; lanes.h says how a key passes through them.
 *
 * A file that includes this one defines VARIANT_RUN and VARIANT_TOGETHER, the names of its two
 * functions, beside what lanes.h asks for.
 *
 * z and q are constants in each instance of the loops (k tells both, tamis__blocked_words), so the
 * compiler unrolls the masks.
 */
#include "kind/blocked.h"
#include "kind/places.h"

/* ---- Probes ---------------------------------------------------------------------------------- */

TAMIS__INLINE uint64_t lacking_in(const uint64_t *data, const struct places *p, unsigned slot,
                                  unsigned w)
{
    /* ORDER relaxed: a bit says only "this key may be here"; no other memory is inferred. */
    return p->mask[w][slot] & ~__atomic_load_n(&data[p->word[w][slot]], __ATOMIC_RELAXED);
}

/* The words are tested by hand, as the compiler does not unroll a loop of four here. */
TAMIS__INLINE unsigned test_slot(const uint64_t *data, const struct places *p, unsigned slot,
                                 unsigned z)
{
    uint64_t lacking = lacking_in(data, p, slot, 0) | lacking_in(data, p, slot, 1);
    if (z == 4) lacking |= lacking_in(data, p, slot, 2) | lacking_in(data, p, slot, 3);
    return lacking == 0;
}

TAMIS__INLINE unsigned insert_slot(uint64_t *data, const struct places *p, unsigned slot,
                                   unsigned z)
{
    uint64_t *word[4], mask[4];
    for (unsigned w = 0; w < z; w++) {
        word[w] = &data[p->word[w][slot]];
        mask[w] = p->mask[w][slot];
    }
    return tamis__blocked_insert(word, mask, z);
}

/* Prefetches the new slots of a step, and probes the old ones. */
TAMIS__INLINE size_t blocked_turn(uint64_t *data, const struct places *p, struct stand at,
                                  uint8_t *answers, int adding, bool far, unsigned z)
{
    const unsigned both = at.fresh > at.old ? at.fresh : at.old;
    size_t ones = 0;
    for (unsigned i = 0; i < both; i++) {
        if (i < at.fresh) tamis__fetch_line(&data[p->word[0][at.slot + i]], far);
        if (i >= at.old) continue;
        const unsigned one =
            adding ? insert_slot(data, p, at.asked + i, z) : test_slot(data, p, at.asked + i, z);
        answers[i] = (uint8_t)one;
        ones += one;
    }
    return ones;
}

/* ---- The loop -------------------------------------------------------------------------------- */

/* What the keys of a call have in common. */
struct run {
    const struct tamis__segment *segment;
    uint64_t *data;
    uint64_t blocks;
    struct ring ring;
    struct source from;
    struct tamis__digest *kept; /* NULL, or where the digests go */
};

TAMIS__INLINE size_t blocked_loop(const struct run *run, size_t count, uint8_t *answers, int adding,
                                  unsigned z, unsigned q)
{
    struct places places;
    struct halves halves;
    const struct ring ring = run->ring;
    size_t ones = 0, counted = 0;
    for (size_t i = 0; i < count + ring.depth; i += KEYS_A_STEP) {
        const struct stand at = stand_at(ring, i, count);
        const struct stand whole = {at.slot, at.asked, KEYS_A_STEP, KEYS_A_STEP, at.done};
        take_halves(&run->from, i, at.fresh, &halves);
        if (!adding && at.fresh > 0 && run->kept != NULL)
            keep_digests(&halves, at.fresh, run->kept + i);
        if (at.fresh > 0) place(run->blocks, &halves, at.fresh, &places, at.slot, z, q);
        if (at.fresh == KEYS_A_STEP && at.old == KEYS_A_STEP)
            ones += blocked_turn(run->data, &places, whole, answers + at.done, adding, ring.far, z);
        else
            ones += blocked_turn(run->data, &places, at, answers + at.done, adding, ring.far, z);
        if (adding && i % TAMIS__KEYS_A_COUNT == 0)
            counted = tamis__count_new(run->segment, ones, counted);
    }
    if (adding) (void)tamis__count_new(run->segment, ones, counted);
    return ones;
}

TAMIS__INLINE size_t blocked_loop_of_k(const struct run *run, size_t count, uint8_t *answers,
                                       int adding)
{
    switch (run->segment->header->k) {
#define CASE_LOOP(k, z, q)                                                                         \
    case k:                                                                                        \
        return blocked_loop(run, count, answers, adding, z, q);
        TAMIS__FOR_EACH_K(CASE_LOOP)
#undef CASE_LOOP
    default:
        return 0;
    }
}

size_t VARIANT_RUN(const struct tamis__segment *segment, const struct tamis_key *keys,
                   const struct tamis__digest *digests, size_t count, uint8_t *answers, int adding,
                   struct tamis__digest *kept)
{
    const struct run run = {.segment = segment,
                            .data = segment->data,
                            .blocks = segment->header->m_bits / TAMIS__BLOCK_BITS,
                            .ring = ring_for(TAMIS__LOOP_BLOCKED, segment, count),
                            .from = {.by = tamis__header_digester(segment->header),
                                     .keys = keys,
                                     .digests = digests,
                                     .count = count},
                            .kept = kept};
    if (count == 0) return 0;
    return adding ? blocked_loop_of_k(&run, count, answers, 1)
                  : blocked_loop_of_k(&run, count, answers, 0);
}

#include "kind/blocked_together.h"
