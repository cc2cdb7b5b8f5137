/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * blocked.h: what the variants of the blocked kind's loops share (blocked_run.h has the loops).
 */
#pragma once

#include "kind/block.h"
#include "kind/kind.h"
#include "kind/points.h"

/* Adds or asks keys, or digests (the other pointer is NULL).  Returns how many of the answers are
 * 1.  `kept`: NULL, or receives the digests of keys that are asked. */
typedef size_t tamis__blocked_run_fn(const struct tamis__segment *segment,
                                     const struct tamis_key *keys,
                                     const struct tamis__digest *digests, size_t count,
                                     uint8_t *answers, int adding, struct tamis__digest *kept);

/* Asks several segments, at most TAMIS__TOGETHER_MAX, as contains_together of kind.h. */
typedef size_t tamis__blocked_together_fn(const struct tamis__segment *const *segments,
                                          unsigned segment_count, const struct tamis_key *keys,
                                          const struct tamis__digest *digests, size_t count,
                                          uint8_t *answers, struct tamis__digest *kept);

/* The reference first, then the variants for machines with more instructions, for fewer
 * than 2^32 blocks. */
tamis__blocked_run_fn tamis__blocked_run_portable, tamis__blocked_run_avx2,
    tamis__blocked_run_avx512;
tamis__blocked_together_fn tamis__blocked_together_portable, tamis__blocked_together_avx2,
    tamis__blocked_together_avx512;

/*
 * Sets the masks in the z words of a key, in the order of their groups.  Returns 1 if the
 * key is new.
 *
 * By the last-missing-word rule (docs/concurrency.md) all adders of a key visit its words
 * in one order.  NEW is told to the adder whose OR changed the last word that this adder
 * had found lacking.
 */
TAMIS__INLINE unsigned tamis__blocked_insert(uint64_t *const word[4], const uint64_t mask[4],
                                             unsigned z)
{
    uint64_t lacking[5] = {0}, any = 0, changed = 0;
    for (unsigned i = 0; i < z; i++) {
        /* ORDER acquire: pairs with the release below.  Who finds a word full must also see the
         * words that its filler had filled before it, or two adders could both be the last (the
         * model shows it).  Load first: an OR that changes nothing would still take the cache line
         * and dirty the page. */
        lacking[i] = mask[i] & ~__atomic_load_n(word[i], __ATOMIC_ACQUIRE);
        any |= lacking[i];
        TAMIS__POINT(TAMIS__POINT_ADD_LOADED);
    }
    if (any == 0) return 0;
    for (unsigned i = 0; i < z; i++) {
        uint64_t after = 0;
        if (lacking[i] == 0) continue;
        for (unsigned j = i + 1; j < z; j++)
            after |= lacking[j];
        /* Only the result of the last OR is looked at: the others are cheaper without. */
        if (after != 0 && !TAMIS__ANY_BIT_RULE)
            (void)__atomic_fetch_or(word[i], mask[i], __ATOMIC_RELEASE);
        else
            changed |= mask[i] & ~__atomic_fetch_or(word[i], mask[i], __ATOMIC_RELEASE);
        TAMIS__POINT(TAMIS__POINT_ADD_ORED);
    }
    return changed != 0;
}
