/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cells_merge.c: merges and compares the data of two filters that consist of counters.
 *
 *     union          each counter of the source is added to that of the target, as if every key had
 *                    been added there as often as it was to the source
 *     intersection   each counter becomes the lesser of both, so each key is there as often as in
 *                    the filter that has it less often.  A counter is a sum over keys; the sum of
 *                    lesser counts is at most the lesser of both sums, so it is never too low
 *
 * The union goes into a segment that others add to and remove from.  To them the merge is one more
 * adder of other keys: it only raises, by atomic read-modify-writes.  So it needs no lock of a
 * block and loses nothing (docs/concurrency.md, "Merging").
 *
 * Most words are added whole, with all their counters in a single compare-and-swap:
 *
 *     target  |3|0|1|0|0|7|..   if no counter of the sum comes to its greatest value, or carries
 *     source  |1|0|2|0|0|5|..   into the next one, the word is swapped; else one counter is added
 *     sum     |4|0|3|0|0|C|..   after the other, as the overflow table needs it
 *
 * An addition that was broken off cannot be completed: done again, it would add twice.  So
 * reserve() comes first and goes over all words of all sources.  It finds what would fail, and
 * takes the slots.
 */
#include "kind/cells.h"
#include "kind/kind.h"
#include "kind/points.h"

static uint64_t load_word(const struct tamis__segment *segment, uint64_t index)
{
    /* ORDER relaxed: what was added before the merge began is seen, because whoever told us of it
     * also made it visible. */
    return __atomic_load_n(&segment->data[index], __ATOMIC_RELAXED);
}

/* The highest bit of each counter. */
static uint64_t highest_bits(const struct tamis__cells *cells)
{
    return tamis__lowest_bits(cells) << ((1u << cells->width_log2) - 1);
}

/* *sum += more, counter by counter.  Returns false if one counter comes to its greatest value
 * or past it. */
static bool add_word(const struct tamis__cells *cells, uint64_t *sum, uint64_t more)
{
    const uint64_t a = *sum, high = highest_bits(cells);
    /* Without the highest bits nothing carries out of a counter; these are added without carry. */
    const uint64_t s = ((a & ~high) + (more & ~high)) ^ ((a ^ more) & high);
    const uint64_t carries = ((a & more) | ((a | more) & ~s)) & high;
    *sum = s;
    return carries == 0 && !tamis__word_has_marked(cells, s);
}

/* ---- Adding ---------------------------------------------------------------------------------- */

/* Makes room for one counter with all that is to be added to it. */
static int reserve_cell(const struct tamis__cells *to, const struct tamis__segment *const *from,
                        size_t count, uint64_t cell)
{
    const uint64_t is = tamis__cell_get(to, cell);
    uint64_t sum = is;
    for (size_t i = 0; i < count; i++) {
        const struct tamis__cells source = tamis__cells_of(from[i]);
        const uint64_t more = tamis__cell_get(&source, cell);
        if (more > 0 && (more > TAMIS__COUNT_MAX || sum > TAMIS__COUNT_MAX - more))
            return tamis__fail_count(to, cell);
        sum += more;
    }
    return sum > is && sum >= to->most ? tamis__cell_take_slot(to, cell) : 0;
}

int tamis__cells_reserve(const struct tamis__segment *to, const struct tamis__segment *const *from,
                         size_t count, struct tamis__words words)
{
    const struct tamis__cells cells = tamis__cells_of(to);
    const unsigned per_word = tamis__cells_per_word(&cells);
    int rc = 0;
    for (uint64_t w = words.first; rc == 0 && w < words.first + words.count; w++) {
        uint64_t sum = load_word(to, w);
        bool fits = true;
        for (size_t i = 0; fits && i < count; i++)
            fits = add_word(&cells, &sum, load_word(from[i], w));
        for (unsigned i = 0; !fits && rc == 0 && i < per_word; i++)
            rc = reserve_cell(&cells, from, count, w * per_word + i);
    }
    return rc;
}

static int raise_word(const struct tamis__cells *to, const struct tamis__cells *from,
                      uint64_t index)
{
    const uint64_t more = load_word(from->segment, index);
    const unsigned per_word = tamis__cells_per_word(to);
    if (more == 0) return 0;
    uint64_t sum, old = load_word(to->segment, index); /* ORDER: the swap decides */
    for (sum = old; add_word(to, &sum, more); sum = old) {
        TAMIS__POINT(TAMIS__POINT_MERGE_LOADED);
        /* ORDER acq_rel: as tamis__cell_raise(). */
        if (__atomic_compare_exchange_n(&to->words[index], &old, sum, true, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED))
            return 0;
    }
    int rc = 0;
    for (unsigned i = 0; rc == 0 && i < per_word; i++) {
        const uint64_t cell = index * per_word + i, count = tamis__cell_get(from, cell);
        TAMIS__POINT(TAMIS__POINT_MERGE_LOADED);
        if (count > 0) rc = tamis__cell_raise_by(to, cell, count);
    }
    return rc;
}

/* ---- The calls of the kind ------------------------------------------------------------------- */

static void cut_word(const struct tamis__cells *to, const struct tamis__cells *from, uint64_t index)
{
    const unsigned per_word = tamis__cells_per_word(to);
    for (unsigned i = 0; to->words[index] != 0 && i < per_word; i++) {
        const uint64_t cell = index * per_word + i;
        tamis__cell_cut(to, cell, tamis__cell_get(from, cell));
    }
}

int tamis__cells_merge(const struct tamis__segment *to, const struct tamis__segment *from,
                       enum tamis__merge_rule rule, struct tamis__words words)
{
    const struct tamis__cells into = tamis__cells_of(to), source = tamis__cells_of(from);
    int rc = 0;
    for (uint64_t w = words.first; rc == 0 && w < words.first + words.count; w++) {
        if (rule == TAMIS__MERGE_UNION)
            rc = raise_word(&into, &source, w);
        else
            cut_word(&into, &source, w);
    }
    return rc;
}

void tamis__cells_tally(const struct tamis__segment *a, const struct tamis__segment *b,
                        struct tamis__words words, uint64_t ones[3])
{
    const struct tamis__cells first = tamis__cells_of(a), second = tamis__cells_of(b);
    for (uint64_t w = words.first; w < words.first + words.count; w++) {
        const uint64_t in_a = tamis__word_above_zero(&first, w);
        const uint64_t in_b = tamis__word_above_zero(&second, w);
        ones[0] += (unsigned)__builtin_popcountll(in_a);
        ones[1] += (unsigned)__builtin_popcountll(in_b);
        ones[2] += (unsigned)__builtin_popcountll(in_a | in_b);
    }
}
