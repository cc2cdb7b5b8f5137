/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * estimate.c: estimates from the number of set bits how many keys have set them.
 *
 * A bit stays unset if none of n keys hits it.  A key hits it with a probability h that is the same
 * for every bit, so the share of unset bits has mean (1 - h)^n, however full single blocks are, and
 *
 *     n* = ln(1 - X/m) / ln(1 - h)
 *
 * bloom     h = k/m to first order: n* = -(m/k) ln(1 - X/m) (Swamidass and Baldi, "Mathematical
 *           correction for fingerprint similarity measures to improve chemical retrieval", 2007).
 * blocked   a key picks one of B blocks, in it one word of each group of w = 8/z words, and in this
 *           word q bits with repetition: h = b/B, b = (1 - (63/64)^q) / w.
 *
 * The standard error follows from the variance of the number of unset bits (the delta method).  For
 * bloom it is m e^-c (1 - (1+c) e^-c), c = k n/m, which gives sqrt(m (e^c - 1 - c)) / k.  For
 * blocked, the blocks are alike, and the bits of a block are taken in pairs: a key misses both bits
 * with one probability if they are in one word, with another if they are in one group, and with a
 * third if they are in two groups.  The number of keys in each block, its load, is taken as
 * Poisson; then the variance is lowered, because the loads add up to n.
 *
 * The other way round, tamis__spread_*() say how many bits keys set, and how far that number may be
 * off by chance (docs/sizing.md, "Is that chance?").
 *
 * All of this holds for hash sets whose positions are uniform and independent.
 */
#include <math.h>

#include "sizing/sizing.h"

#define WORD_BITS 64.0

struct shape {
    double words; /* in a group: a key picks one of them */
    double hits;  /* chance that a key of the block hits a given bit of it */
    double q;
};

static struct shape shape_of(uint32_t k)
{
    const uint32_t z = tamis__blocked_words(k);
    struct shape shape = {.words = (double)TAMIS__BLOCK_WORDS / z, .q = (double)k / z};
    shape.hits = (1 - pow(1 - 1 / WORD_BITS, shape.q)) / shape.words;
    return shape;
}

double tamis__estimate_items(uint32_t kind, uint64_t m_bits, uint32_t k, uint64_t ones)
{
    /* A full array tells nothing.  It is treated as one that lacks a single bit. */
    const double m = (double)m_bits, set = ones < m_bits ? (double)ones : m - 1;
    const double unset = log1p(-set / m);
    const double items = tamis_kind_has(kind, TAMIS_KIND_IS_PLAIN)
                             ? -m / k * unset
                             : unset / log1p(-shape_of(k).hits * TAMIS__BLOCK_BITS / m);
    return fmin(fmax(items, 0), (double)TAMIS__CAPACITY_MAX);
}

/* Returns the variance of the number of unset bits of a block whose load is Poisson with mean
 * `load`.  *slope gets the number of bits that one more key sets. */
static double loose_variance(const struct shape *s, double load, double *slope)
{
    const double bits = TAMIS__BLOCK_BITS, miss_one = exp(-load * s->hits);
    const double in_word = (1 - pow(1 - 2 / WORD_BITS, s->q)) / s->words;
    const double in_group = 2 * s->hits;
    const double in_block = 1 - (1 - s->hits) * (1 - s->hits);
    const double pairs = miss_one + (WORD_BITS - 1) * exp(-load * in_word) +
                         WORD_BITS * (s->words - 1) * exp(-load * in_group) +
                         (bits - WORD_BITS * s->words) * exp(-load * in_block);
    const double mean = bits * miss_one;
    *slope = s->hits * mean;
    return fmax(bits * pairs - mean * mean, 0);
}

/* Returns the same variance for blocks that have `load` keys each on average, when the number of
 * keys in all blocks together is certain. */
static double block_variance(const struct shape *s, double load)
{
    double slope;
    const double loose = loose_variance(s, load, &slope);
    return fmax(loose - load * slope * slope, 0);
}

double tamis__estimate_error(uint32_t kind, uint64_t m_bits, uint32_t k, double items)
{
    const double m = (double)m_bits;
    if (items <= 0) return 0;
    if (tamis_kind_has(kind, TAMIS_KIND_IS_PLAIN)) {
        const double c = k * items / m;
        return sqrt(m * fmax(expm1(c) - c, 0)) / k;
    }
    const struct shape shape = shape_of(k);
    const double blocks = m / TAMIS__BLOCK_BITS, load = items / blocks;
    return sqrt(blocks * block_variance(&shape, load)) /
           (TAMIS__BLOCK_BITS * shape.hits * exp(-load * shape.hits));
}

struct tamis__spread tamis__spread_of_items(uint32_t kind, uint64_t m_bits, uint32_t k,
                                            double items)
{
    const double m = (double)m_bits;
    if (items <= 0) return (struct tamis__spread){.unit = 1};
    if (tamis_kind_has(kind, TAMIS_KIND_IS_PLAIN)) {
        const double c = k * items / m;
        return (struct tamis__spread){.mean = -m * expm1(k * items * log1p(-1 / m)),
                                      .deviation =
                                          sqrt(m * exp(-c) * fmax(1 - (1 + c) * exp(-c), 0)),
                                      .unit = 1};
    }
    const struct shape shape = shape_of(k);
    const double blocks = m / TAMIS__BLOCK_BITS, load = items / blocks;
    double slope;
    return (struct tamis__spread){.mean = -m * expm1(items * log1p(-shape.hits / blocks)),
                                  .deviation = sqrt(blocks * block_variance(&shape, load)),
                                  .unit = sqrt(loose_variance(&shape, load, &slope))};
}

struct tamis__spread tamis__spread_of_share(uint32_t kind, uint32_t k, uint64_t places,
                                            double share)
{
    const double of = (double)places;
    struct tamis__spread spread = {.mean = of * share, .unit = 1};
    if (share <= 0 || share >= 1) return spread;
    if (tamis_kind_has(kind, TAMIS_KIND_IS_PLAIN)) {
        spread.deviation = sqrt(of * share * (1 - share));
        return spread;
    }
    const struct shape shape = shape_of(k);
    double slope;
    spread.unit = sqrt(loose_variance(&shape, -log1p(-share) / shape.hits, &slope));
    spread.deviation = spread.unit * sqrt(of / TAMIS__BLOCK_BITS);
    return spread;
}

double tamis__spread_bound(const struct tamis__spread *spread)
{
    return TAMIS__SPREAD_DEVIATIONS * spread->deviation +
           TAMIS__SPREAD_DEVIATIONS * TAMIS__SPREAD_DEVIATIONS / 3 * spread->unit;
}
