/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * progression.h: the positions of the hash sets that have pairs (hash_set.h): the terms of an
 * arithmetic progression, each modulo m,
 *
 *     position i = ((a + i b mod 2^64) & mask) mod m
 *
 * k divisions would take longer than all else that is done for a key, so there is one, for all keys
 * of a call: of 2^64 - 1 by m.  With I = floor((2^64 - 1) / m) and any x below 2^64, x / m - x I /
 * 2^64 is x (2^64 - I m) / (m 2^64), and 2^64 - I m is at least 1 and at most m.  So the difference
 * lies in [0, 1), floor(x I / 2^64) is the quotient or one less, and the rest is below 2 m.
 */
#pragma once

#include "base/base.h"
#include "hash/digest.h"

struct tamis__progression {
    uint64_t m, inverse; /* inverse: I */
    uint64_t mask;
};

static inline struct tamis__progression tamis__progression(uint64_t m, uint64_t mask)
{
    return (struct tamis__progression){.m = m, .inverse = UINT64_MAX / m, .mask = mask};
}

static inline uint64_t tamis__progression_at(const struct tamis__progression *p, uint64_t term)
{
    const uint64_t x = term & p->mask;
    const uint64_t rest = x - tamis__scale(x, p->inverse) * p->m;
    const uint64_t less = rest - p->m; /* above every rest, if the rest is below m already */
    return less < rest ? less : rest;
}

/* Gets the k positions of a pair. */
static inline __attribute__((always_inline)) void
tamis__progression_walk(const struct tamis__progression *p, struct tamis__digest pair,
                        uint64_t *positions, uint32_t k)
{
    for (uint32_t i = 0; i < k; i++, pair.high += pair.low)
        positions[i] = tamis__progression_at(p, pair.high);
}
