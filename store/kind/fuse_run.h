/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuse_run.h: the loop over keys of kind fuse with vectors; lanes.h says how a key passes through
 * it.  Its places are three slots (fuse.h), in three cache lines.
 *
 * Only machines with AVX-512 use it.  Where a key has several lines, their prefetches stand
 * together anyway, and elsewhere fuse.c's own loop is as fast (docs/decisions/0017).
 *
 * A file that includes this one defines VARIANT_RUN, the name, beside what lanes.h asks for.
 */
#include "kind/fuse.h"
#include "kind/lanes.h"

struct places {
    _Alignas(64) uint64_t slot[TAMIS__FUSE_ARITY][RING_SLOTS];
    _Alignas(64) uint64_t fingerprint[RING_SLOTS];
};

/* As tamis__fuse_place(), the slots counted over all pieces. */
TAMIS__INLINE void place_slots(const struct tamis__fuse_ask *ask, const uint64_t *digests,
                               unsigned count, struct places *places, unsigned slot)
{
    const uint64_t width = ask->geometry.segment_slots;
    for (unsigned i = 0; i < count; i += LANES) {
        const lanes digest = lanes_get(digests + i);
        const lanes piece = lanes_scale(digest, ask->geometry.pieces);
#define SEED_OF(n) ask->seeds[piece[n]]
        const lanes seed = {LANES_OF(SEED_OF)};
#undef SEED_OF
        lanes high;
        const lanes low = lanes_mul128(digest ^ seed, TAMIS__FUSE_MULTIPLIER, &high);
        const lanes hash = high ^ low;
        const lanes first =
            lanes_scale(lanes_mul64(digest, ask->geometry.pieces), ask->geometry.first_slots);
        const lanes before = lanes_mul64(piece, ask->piece_slots);
        lanes_put(places->slot[0] + slot + i, before + first);
        lanes_put(places->slot[1] + slot + i, before + ((first + width) ^ (hash & (width - 1))));
        lanes_put(places->slot[2] + slot + i,
                  before + ((first + 2 * width) ^ (hash >> 16 & (width - 1))));
        lanes_put(places->fingerprint + slot + i, hash >> 32);
    }
}

/* Prefetches the new slots of a step, and tests the old ones. */
TAMIS__INLINE size_t fuse_turn(const struct tamis__fuse_ask *ask, const struct places *p,
                               struct stand at, uint8_t *answers, bool far, uint32_t bytes)
{
    const unsigned both = at.fresh > at.old ? at.fresh : at.old;
    const uint32_t mask = tamis__fuse_mask(bytes, ask->bits);
    const char *fingerprints = ask->fingerprints;
    size_t ones = 0;
    for (unsigned i = 0; i < both; i++) {
        const unsigned fresh = at.slot + i, old = at.asked + i;
        for (unsigned j = 0; j < TAMIS__FUSE_ARITY && i < at.fresh; j++)
            tamis__fetch_line(
                fingerprints + tamis__fuse_offset(p->slot[j][fresh], bytes, ask->bits), far);
        if (i >= at.old) continue;
        uint32_t sum = (uint32_t)p->fingerprint[old];
        for (unsigned j = 0; j < TAMIS__FUSE_ARITY; j++)
            sum ^= tamis__fuse_fingerprint(fingerprints, p->slot[j][old], bytes, ask->bits);
        const unsigned one = (sum & mask) == 0;
        answers[i] = (uint8_t)one;
        ones += one;
    }
    return ones;
}

/* Takes the caller's digests, or makes those of the keys.  The lanes that are left of the last
 * vector get 0: nobody asks for these. */
TAMIS__INLINE void take_digests(const struct source *from, const uint64_t *digests, size_t first,
                                unsigned count, struct halves *halves)
{
    if (digests == NULL) {
        take_halves(from, first, count, halves);
        return;
    }
    for (unsigned i = 0; i < (count + LANES - 1) / LANES * LANES; i++)
        halves->low[i] = i < count ? digests[first + i] : 0;
}

TAMIS__INLINE size_t fuse_loop(const struct tamis__segment *segment,
                               const struct tamis__fuse_ask *ask, const struct source *from,
                               const uint64_t *digests, size_t count, uint8_t *answers,
                               uint32_t bytes)
{
    struct places places;
    struct halves halves;
    const struct ring ring = ring_for(TAMIS__LOOP_FUSE, segment, count);
    size_t ones = 0;
    for (size_t i = 0; i < count + ring.depth; i += KEYS_A_STEP) {
        const struct stand at = stand_at(ring, i, count);
        const struct stand whole = {at.slot, at.asked, KEYS_A_STEP, KEYS_A_STEP, at.done};
        take_digests(from, digests, i, at.fresh, &halves);
        if (at.fresh > 0) place_slots(ask, halves.low, at.fresh, &places, at.slot);
        if (at.fresh == KEYS_A_STEP && at.old == KEYS_A_STEP)
            ones += fuse_turn(ask, &places, whole, answers + at.done, ring.far, bytes);
        else
            ones += fuse_turn(ask, &places, at, answers + at.done, ring.far, bytes);
    }
    return ones;
}

size_t VARIANT_RUN(const struct tamis__segment *segment, const struct tamis_key *keys,
                   const uint64_t *digests, size_t count, uint8_t *answers)
{
    const struct tamis__fuse_ask ask = tamis__fuse_ask_of(segment);
    const struct source from = {.by = ask.by, .keys = keys, .count = count};
    if (count == 0) return 0;
    switch (tamis__fuse_instance(ask.bits)) {
    case 1:
        return fuse_loop(segment, &ask, &from, digests, count, answers, 1);
    case 2:
        return fuse_loop(segment, &ask, &from, digests, count, answers, 2);
    case 4:
        return fuse_loop(segment, &ask, &from, digests, count, answers, 4);
    default:
        return fuse_loop(segment, &ask, &from, digests, count, answers, TAMIS__FUSE_PACKED);
    }
}
