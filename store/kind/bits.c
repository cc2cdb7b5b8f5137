/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bits.c: what can be done to the data of two filters that are bits, whatever the kind and the bit
 * order: equal geometry, hash set and seed make a bit of one mean what the same bit of the other
 * does.
 *
 * The union goes into a segment that others add to and ask meanwhile.  To them it is one more adder
 * of other keys: bits go from 0 to 1 by atomic ORs, so none that anybody sets is lost, and nobody
 * is told NEW who would not have been (docs/concurrency.md, "Merging").
 */
#include "kind/kind.h"

static void join(uint64_t *to, uint64_t mask)
{
    /* ORDER relaxed: the proof for adders needs of other keys' ORs that they are
     * read-modify-writes, which continue a release sequence, and no more.  A plain store would lose
     * what others set between our load and it.  Load first: an OR that changes nothing would dirty
     * the page. */
    const uint64_t is = __atomic_load_n(to, __ATOMIC_RELAXED);
    if ((is & mask) == mask) return;
    TAMIS__POINT(TAMIS__POINT_MERGE_LOADED);
    (void)__atomic_fetch_or(to, mask, __ATOMIC_RELAXED);
}

int tamis__bits_merge(const struct tamis__segment *to, const struct tamis__segment *from,
                      enum tamis__merge_rule rule, struct tamis__words words)
{
    uint64_t *into = to->data + words.first;
    const uint64_t *source = from->data + words.first;
    for (uint64_t i = 0; i < words.count; i++) {
        /* ORDER relaxed: what was added before the merge began is seen, whoever told us of it. */
        const uint64_t bits = __atomic_load_n(&source[i], __ATOMIC_RELAXED);
        if (rule == TAMIS__MERGE_UNION)
            join(&into[i], bits);
        else if ((into[i] & ~bits) != 0) /* nobody else has it */
            into[i] &= bits;
    }
    return 0;
}

void tamis__bits_tally(const struct tamis__segment *a, const struct tamis__segment *b,
                       struct tamis__words words, uint64_t ones[3])
{
    for (uint64_t i = words.first; i < words.first + words.count; i++) {
        const uint64_t in_a = __atomic_load_n(&a->data[i], __ATOMIC_RELAXED); /* ORDER: as above */
        const uint64_t in_b = __atomic_load_n(&b->data[i], __ATOMIC_RELAXED);
        ones[0] += (unsigned)__builtin_popcountll(in_a);
        ones[1] += (unsigned)__builtin_popcountll(in_b);
        ones[2] += (unsigned)__builtin_popcountll(in_a | in_b);
    }
}
