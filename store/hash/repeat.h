/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * repeat.h: how much more often a key that was never added is let in than independent positions
 * would let it in.
 *
 * With k independent positions and a share x of bits set, it is let in with probability x^k.  But
 * all positions of a key follow from two or three numbers.  So its positions may be all the same
 * few, or be those of one key in the filter.  With few keys, x^k is so small that this decides
 * (docs/sizing.md, "Kind bloom").
 */
#pragma once

#include "base/base.h"

/* What is known of a filter's bits. */
struct tamis__load {
    double share; /* of the bits that are set */
    double items; /* keys that have set them */
};

/* For the walk of xxh3.h: three numbers.  Counted for a share below 0.4 only; above it, this is at
 * most some per cent of the rate. */
double tamis__repeat_walk(uint64_t m_bits, uint32_t k, struct tamis__load load);

/* How the terms a + i b of a progression become positions modulo m. */
enum tamis__progression_shape {
    TAMIS__PROGRESSION_WHOLE,   /* they never overflow */
    TAMIS__PROGRESSION_WRAPPED, /* modulo a power of two first */
    TAMIS__PROGRESSION_FOLDED   /* as signed numbers of that many bits, s or ~s if s is negative */
};
/* For progressions: two numbers.  `jump` is the power of two modulo m. */
double tamis__repeat_progression(uint64_t m_bits, uint32_t k, enum tamis__progression_shape shape,
                                 uint64_t jump, struct tamis__load load);
