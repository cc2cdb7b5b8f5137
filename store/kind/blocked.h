/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * blocked.h: what the variants of the blocked kind's loops share (blocked_run.h has the loops).
 */
#ifndef TAMIS_KIND_BLOCKED_H
#define TAMIS_KIND_BLOCKED_H

#include "base/point.h"
#include "kind/block.h"
#include "kind/kind.h"

/* Add or ask keys, or digests (the other one NULL); returns how many ones are in the answers.
 * `kept`: NULL, or receives the digests of keys that are asked. */
typedef size_t tamis__blocked_run_fn(const struct tamis__segment *segment,
                                     const struct tamis_key *keys,
                                     const struct tamis__digest *digests, size_t count,
                                     uint8_t *answers, int adding, struct tamis__digest *kept);

/* The reference; then those of machines that have the instructions, for fewer than 2^32 blocks. */
tamis__blocked_run_fn tamis__blocked_run_portable, tamis__blocked_run_avx2,
    tamis__blocked_run_avx512;

/*
 * Set the masks in the z words of a key, which stand in the order of their groups: 1 if it is new.
 *
 * The last-missing-word rule (docs/concurrency.md): the words are visited in one order by all
 * adders of a key; NEW is told to the one whose OR on the last word that it had found lacking
 * changed it.
 */
TAMIS__INLINE unsigned tamis__blocked_insert(uint64_t *const word[4], const uint64_t mask[4],
                                             unsigned z)
{
    uint64_t lacking[5] = {0}, any = 0, changed = 0;
    for (unsigned i = 0; i < z; i++) {
        /* ORDER acquire: pairs with the release below.  Who finds a word full must also see the
         * words that its filler had filled before it, else two adders can both be last (the model
         * has it). Load first: an OR that changes nothing would still take the line and dirty the
         * page. */
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
        /* What the OR found is looked at where it was the last: the others are cheaper without. */
        if (after != 0 && !TAMIS__ANY_BIT_RULE)
            (void)__atomic_fetch_or(word[i], mask[i], __ATOMIC_RELEASE);
        else
            changed |= mask[i] & ~__atomic_fetch_or(word[i], mask[i], __ATOMIC_RELEASE);
        TAMIS__POINT(TAMIS__POINT_ADD_ORED);
    }
    return changed != 0;
}

#endif
