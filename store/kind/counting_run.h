/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counting_run.h: the loops over keys of kind counting.  The file is included once for each set of
 * vector instructions; lanes.h says how a key passes through them.
 *
 * A file that includes this one defines VARIANT_RUN, the name of its function, beside what lanes.h
 * asks for.
 */
#include "kind/places.h"

#include "kind/counting_key.h"

/* Computes the places of a step.  z and q are constants in each instance (k tells both). */
static void place_step(const struct tamis__segment_header *header, const struct halves *halves,
                       unsigned count, struct places *places, unsigned slot)
{
    const uint64_t blocks = header->m_bits / TAMIS__BLOCK_BITS;
    switch (header->k) {
#define CASE_PLACE(k, z, q)                                                                        \
    case k:                                                                                        \
        place(blocks, halves, count, places, slot, z, q);                                          \
        break;
        TAMIS__FOR_EACH_K(CASE_PLACE)
#undef CASE_PLACE
    default:
        break;
    }
}

TAMIS__INLINE struct tamis__key_cells key_at(const struct places *places, unsigned slot, unsigned z)
{
    struct tamis__key_cells key; /* not set to 0 first: that costs half as much as a query */
#pragma GCC unroll 4
    for (unsigned w = 0; w < z; w++) {
        key.word[w] = places->word[w][slot];
        key.mask[w] = places->mask[w][slot];
    }
    return key; /* cppcheck-suppress uninitvar; z is 2 or 4 */
}

/* 64 cells of 4 or 8 bits are at most a cache line; wider ones are fetched one by one. */
TAMIS__INLINE void fetch_cells(const struct tamis__cells *cells, const struct places *places,
                               unsigned slot, unsigned z, int to_write, bool far)
{
#pragma GCC unroll 4
    for (unsigned w = 0; w < z; w++) {
        const uint64_t first = places->word[w][slot] * 64;
        uint64_t left = cells->width_log2 <= 3 ? 1 : places->mask[w][slot];
        for (; left != 0; left &= left - 1) {
            const uint64_t cell = first + (unsigned)__builtin_ctzll(left);
            if (to_write)
                tamis__fetch_line_to_write(tamis__cell_word(cells, cell), far);
            else
                tamis__fetch_line(tamis__cell_word(cells, cell), far);
        }
    }
}

TAMIS__INLINE int64_t apply_to_key(const struct tamis__cells *cells,
                                   const struct tamis__key_cells *key, enum tamis__counting_op op,
                                   unsigned z)
{
    switch (op) {
    case TAMIS__COUNTING_ADD:
        return add_key(cells, key, z);
    case TAMIS__COUNTING_CONTAINS:
        return contains_key(cells, key, z);
    case TAMIS__COUNTING_REMOVE:
        return remove_key(cells, key, z);
    default:
        return (int64_t)count_key(cells, key, z);
    }
}

/* Prefetches the new slots of a step, and works on the old ones, the keys from number at.done on.
 * *above is raised by the number of results above 0.  Returns 0 or an error. */
TAMIS__INLINE int counting_turn(const struct tamis__cells *given, const struct places *places,
                                struct stand at, const struct tamis__counting_call *call,
                                enum tamis__counting_op op, bool far, unsigned z, size_t *above)
{
    const struct tamis__cells cells = *given; /* so that it stays in registers */
    const unsigned both = at.fresh > at.old ? at.fresh : at.old;
    const int to_write = op == TAMIS__COUNTING_ADD || op == TAMIS__COUNTING_REMOVE;
    for (unsigned i = 0; i < both; i++) {
        if (i < at.fresh) fetch_cells(&cells, places, at.slot + i, z, to_write, far);
        if (i >= at.old) continue;
        const struct tamis__key_cells key = key_at(places, at.asked + i, z);
        const int64_t got = apply_to_key(&cells, &key, op, z);
        if (__builtin_expect(got < 0, 0)) {
            memset(call->answers + at.done + i, TAMIS_ANSWER_REFUSED, call->count - at.done - i);
            return (int)got;
        }
        if (op == TAMIS__COUNTING_COUNT)
            call->counts[at.done + i] = (uint64_t)got;
        else
            call->answers[at.done + i] = (uint8_t)got;
        *above += got > 0;
    }
    return 0;
}

TAMIS__INLINE int64_t counting_loop(const struct tamis__segment *segment,
                                    const struct tamis__counting_call *call,
                                    enum tamis__counting_op op, unsigned z)
{
    struct places places;
    struct halves halves;
    const struct tamis__cells cells = tamis__cells_of(segment);
    const struct ring ring = ring_for(TAMIS__LOOP_COUNTING, segment, call->count);
    const struct source from = {.by = tamis__header_digester(segment->header),
                                .keys = call->keys,
                                .digests = call->digests,
                                .count = call->count};
    size_t above = 0, counted = 0;
    int rc = 0;
    for (size_t i = 0; i < call->count + ring.depth && rc == 0; i += KEYS_A_STEP) {
        const struct stand at = stand_at(ring, i, call->count);
        take_halves(&from, i, at.fresh, &halves);
        if (at.fresh > 0 && call->kept != NULL) keep_digests(&halves, at.fresh, call->kept + i);
        if (at.fresh > 0) place_step(segment->header, &halves, at.fresh, &places, at.slot);
        rc = counting_turn(&cells, &places, at, call, op, ring.far, z, &above);
        if (op == TAMIS__COUNTING_ADD && i % TAMIS__KEYS_A_COUNT == 0)
            counted = tamis__count_new(segment, above, counted);
    }
    if (op == TAMIS__COUNTING_ADD) (void)tamis__count_new(segment, above, counted);
    return rc < 0 ? rc : (int64_t)above;
}

int64_t VARIANT_RUN(const struct tamis__segment *segment, const struct tamis__counting_call *call)
{
    const bool two = segment->header->words == 2;
    if (call->count == 0) return 0;
    switch (call->op) {
#define CASE_LOOP(op)                                                                              \
    case op:                                                                                       \
        return two ? counting_loop(segment, call, op, 2) : counting_loop(segment, call, op, 4);
        CASE_LOOP(TAMIS__COUNTING_ADD)
        CASE_LOOP(TAMIS__COUNTING_CONTAINS)
        CASE_LOOP(TAMIS__COUNTING_REMOVE)
#undef CASE_LOOP
    default:
        return two ? counting_loop(segment, call, TAMIS__COUNTING_COUNT, 2)
                   : counting_loop(segment, call, TAMIS__COUNTING_COUNT, 4);
    }
}
