/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bits.c: merges and compares the data of two filters that consist of bits, whatever the kind and
 * the bit order.  With equal geometry, hash set and seed, a bit of one means what the same bit of
 * the other means.
 *
 * The union goes into a segment that others add to and ask meanwhile.  To them the merge is one
 * more adder of other keys: bits go from 0 to 1 by atomic ORs, so no bit is lost that anybody sets,
 * and nobody is told NEW who would not have been told so anyway (docs/concurrency.md, "Merging").
 */
#include "kind/kind.h"
#include "kind/points.h"

static void join(uint64_t *to, uint64_t mask)
{
    /* ORDER relaxed: the proof for adders needs only that the ORs of other keys are
     * read-modify-writes, which continue a release sequence.  A plain store would lose what
     * others set between our load and our store.  Load first: an OR that changes nothing would
     * dirty the page. */
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
        /* ORDER relaxed: what was added before the merge began is seen, because whoever told us of
         * it also made it visible. */
        const uint64_t bits = __atomic_load_n(&source[i], __ATOMIC_RELAXED);
        if (rule == TAMIS__MERGE_UNION)
            join(&into[i], bits);
        else if ((into[i] & ~bits) != 0) /* nobody else has this segment */
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
