/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * places.h: the places of many keys in a segment of blocks (block.h), for the loops of the kinds
 * blocked and counting.  It is included once for each kind and set of vector instructions
 * (lanes.h).
 */
#include "kind/lanes.h"

/* A key of slot s picks the places `mask[w][s]` of the 64 from 64 * word[w][s] on. */
struct places {
    _Alignas(64) uint64_t word[4][RING_SLOTS];
    _Alignas(64) uint64_t mask[4][RING_SLOTS];
};

#ifdef LANES

/* Which word of its block word w of a key is, and its mask, as tamis__target_of. */
TAMIS__INLINE lanes lanes_target(lanes low, unsigned w, unsigned z, unsigned q, lanes *mask)
{
    const unsigned word_bits = z == 2 ? 2 : 1;
    const lanes x = lanes_mul64(low, tamis__multipliers[w]);
    *mask = (lanes){0};
    for (unsigned j = 1; j <= q; j++)
        *mask |= lanes_bit(x, 64 - word_bits - 6 * j);
    return (x >> (64 - word_bits)) + w * (TAMIS__BLOCK_WORDS / z);
}

/* Computes the places of the first `count` digests, and of some after these to fill a vector. */
TAMIS__INLINE void place(uint64_t blocks, const struct halves *halves, unsigned count,
                         struct places *places, unsigned slot, unsigned z, unsigned q)
{
    for (unsigned i = 0; i < count; i += LANES) {
        const lanes high = lanes_get(halves->high + i), low = lanes_get(halves->low + i);
        const lanes first = lanes_scale(high, blocks) * TAMIS__BLOCK_WORDS;
        for (unsigned w = 0; w < z; w++) {
            lanes mask;
            lanes_put(places->word[w] + slot + i, first + lanes_target(low, w, z, q, &mask));
            lanes_put(places->mask[w] + slot + i, mask);
        }
    }
}

#else

TAMIS__INLINE void place(uint64_t blocks, const struct halves *halves, unsigned count,
                         struct places *places, unsigned slot, unsigned z, unsigned q)
{
    for (unsigned i = 0; i < count; i++) {
        const uint64_t first = tamis__scale(halves->high[i], blocks) * TAMIS__BLOCK_WORDS;
        for (unsigned w = 0; w < z; w++) {
            const struct tamis__target t = tamis__target_of(halves->low[i], w, z, q);
            places->word[w][slot + i] = first + t.word;
            places->mask[w][slot + i] = t.mask;
        }
    }
}

#endif
