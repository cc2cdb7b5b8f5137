/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * block.h: where the bits of a key lie in a block, for the kinds that use one block for each key.
 * A place is one of the 512 spots of a block; in a blocked filter it is a bit, in a counting
 * filter a counter.
 *
 *     digest.high --multiply-shift--> block          512 places = 8 words of 64
 *     digest.low  --times M[i]------> x_i, for each of z groups of 8/z words:
 *                     top bits            which word of the group
 *                     next q times 6 bits which places of the word; one may come twice
 *
 * x_0 .. x_3 come from one 64-bit half by multiplication with odd constants: 64 bits are too few
 * to cut 4 * (1 + 6q) bits out of them directly.
 */
#pragma once

#include "base/cpu.h"
#include "hash/digest.h"
#include "segment/segment.h"
#include "sizing/sizing.h"

/* Odd numbers without a pattern: 2^64 / golden ratio, and primes of xxHash. */
static const uint64_t tamis__multipliers[4] = {0x9E3779B97F4A7C15u, 0xC2B2AE3D27D4EB4Fu,
                                               0x165667B19E3779F9u, 0x85EBCA77C2B2AE63u};

struct tamis__target {
    unsigned word; /* 0..7, in the block */
    uint64_t mask;
};

/* Returns where word i of z of a key lies, and its q places. */
TAMIS__INLINE struct tamis__target tamis__target_of(uint64_t low, unsigned i, unsigned z,
                                                    unsigned q)
{
    const unsigned group_words = TAMIS__BLOCK_WORDS / z;
    const unsigned word_bits = z == 2 ? 2 : 1; /* log2(group_words) */
    const uint64_t x = low * tamis__multipliers[i];
    struct tamis__target target = {.word = i * group_words + (unsigned)(x >> (64 - word_bits)),
                                   .mask = 0};
    for (unsigned j = 1; j <= q; j++)
        target.mask |= (uint64_t)1 << (x >> (64 - word_bits - 6 * j) & 63);
    return target;
}

/* Expands X(k, z, q) for each k that such a filter can have, so that z and q are constants in the
 * code for it.  k is checked when a segment is opened. */
#define TAMIS__FOR_EACH_K(X)                                                                       \
    X(2, 2, 1)                                                                                     \
    X(4, 2, 2)                                                                                     \
    X(6, 2, 3)                                                                                     \
    X(8, 2, 4)                                                                                     \
    X(10, 2, 5)                                                                                    \
    X(12, 4, 3)                                                                                    \
    X(16, 4, 4)                                                                                    \
    X(20, 4, 5)                                                                                    \
    X(24, 4, 6)                                                                                    \
    X(28, 4, 7)                                                                                    \
    X(32, 4, 8)                                                                                    \
    X(36, 4, 9)                                                                                    \
    X(40, 4, 10)

/* Does the header describe blocks: do its m, k and z go together? */
static inline bool tamis__is_block_geometry(const struct tamis__segment_header *header)
{
    return header->m_bits % TAMIS__BLOCK_BITS == 0 && header->words != 0 &&
           header->words == tamis__blocked_words(header->k) &&
           header->bit_order == TAMIS__BITS_LSB_FIRST;
}

/* Returns which variant of the batch loops serves such a segment: that of tamis__cpu(), unless it
 * has 2^32 blocks or more, for which the vectors are too narrow. */
static inline enum tamis__cpu tamis__block_cpu(const struct tamis__segment_header *header)
{
    return header->m_bits / TAMIS__BLOCK_BITS <= UINT32_MAX ? tamis__cpu() : TAMIS__CPU_PORTABLE;
}

/* Returns the chance to pass a block whose words have that many places set.  It is the product over
 * the groups of the mean over a group's words; hit[n] is the chance of a word with n places set. */
static inline double tamis__block_pass(const unsigned set[TAMIS__BLOCK_WORDS], unsigned z,
                                       const double hit[65])
{
    const unsigned group_words = TAMIS__BLOCK_WORDS / z;
    double pass = 1, group = 0;
    for (unsigned w = 0; w < TAMIS__BLOCK_WORDS; w++) {
        group += hit[set[w]];
        if ((w + 1) % group_words != 0) continue;
        pass *= group / group_words;
        group = 0;
    }
    return pass;
}

/* How many of the 64 places of word `word` of the data are set. */
typedef unsigned tamis__places_fn(const void *data, uint64_t word);

/* `measure` of kind.h; inlined with the function that it is given. */
TAMIS__INLINE void tamis__block_measure(const struct tamis__segment *segment,
                                        tamis__places_fn *places_set, const void *data,
                                        uint64_t *ones, double *fp_rate)
{
    const struct tamis__segment_header *header = segment->header;
    const uint64_t blocks = header->m_bits / TAMIS__BLOCK_BITS,
                   block_bytes = header->data_bytes / blocks,
                   wanted = TAMIS__WANT_BYTES / block_bytes; /* blocks at a time */
    unsigned set[TAMIS__BLOCK_WORDS];
    double hit[65], sum = 0;
    for (unsigned n = 0; n <= 64; n++)
        hit[n] = tamis__word_hit_rate(n, header->k / header->words);
    *ones = 0;
    for (uint64_t b = 0; b < blocks; b++) {
        if (b % wanted == 0) tamis__segment_want(segment, b * block_bytes, TAMIS__WANT_BYTES);
        for (unsigned w = 0; w < TAMIS__BLOCK_WORDS; w++) {
            set[w] = places_set(data, b * TAMIS__BLOCK_WORDS + w);
            *ones += set[w];
        }
        sum += tamis__block_pass(set, header->words, hit);
    }
    *fp_rate = sum / (double)blocks;
}

/* The k places of a key, in order (kind.h). */
void tamis__block_positions(const struct tamis__segment_header *header, const void *key,
                            size_t key_bytes, uint64_t *positions);
