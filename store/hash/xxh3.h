/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xxh3.h: the positions of the hash set xxh3, inlined because the batch loops of the kinds
 * depend on it.
 *
 * Enhanced double hashing (Dillinger and Manolios, "Bloom filters in probabilistic verification",
 * 2004) over the full 64-bit halves of the digest, each term scaled to [0, m):
 *
 *     pos_i = floor((a + i b + i(i-1)/2 c) mod 2^64  *  m / 2^64)      a = high, b = low
 *
 * Dillinger and Manolios take 1 for c and reduce modulo m.  Then a key's positions are one of m^2
 * sequences, and at n = 100, p = 1e-5 (m = 2,409) a stranger hits the very sequence of a member
 * with probability n/m^2 = 1.7e-5: more than the rate asked for (docs/decisions/0004).  So c is a
 * third value, mixed from the low-order bits of both halves, which the scaling leaves unused.
 */
#pragma once

#include "hash/digest.h"
#include "hash/hash_set.h"

struct tamis__walk {
    uint64_t position, step, step_of_step;
};

static inline struct tamis__walk tamis__walk_start(struct tamis__digest digest)
{
    const uint64_t swapped = (digest.high << 32) | (digest.high >> 32);
    const uint64_t mixed = (swapped ^ digest.low) * 0x9E3779B97F4A7C15u; /* 2^64 / golden ratio */
    return (struct tamis__walk){
        .position = digest.high, .step = digest.low, .step_of_step = mixed ^ (mixed >> 32)};
}

static inline uint64_t tamis__walk_next(struct tamis__walk *walk, uint64_t m_bits)
{
    const uint64_t here = tamis__scale(walk->position, m_bits);
    walk->position += walk->step;
    walk->step += walk->step_of_step;
    return here;
}

/* `positions`, `repeats` and `describe` of the hash sets that go by this rule, xxh3 and sip.  The
 * text is both halves of the digest in hexadecimal, the high one first. */
void tamis__walk_positions(const struct tamis__hashing *hashing, const void *key, size_t key_bytes,
                           uint64_t *places);
double tamis__walk_repeats(const struct tamis__hashing *hashing, struct tamis__load load);
size_t tamis__walk_describe(const struct tamis__hashing *hashing, const void *key, size_t key_bytes,
                            char *text, size_t text_bytes);
