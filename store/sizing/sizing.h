/* SPDX-License-Identifier: BSD-2-Clause */
/* sizing.h: pure arithmetic between n, p, m and k; the public face is tamis_size(). */
#pragma once

#include "hash/repeat.h"
#include "sizing/layout.h"

/*
 * z, the number of words that a key touches in its block.  It follows from k: 2 words for k = 2, 4,
 * ... 10, 4 words for k = 12, 16, ... 40; 0 for a k that no blocked filter has.
 */
uint32_t tamis__blocked_words(uint32_t k);

/* tamis_size() for a struct of our own, also for rates down to TAMIS__SEGMENT_RATE_MIN. */
struct tamis_sizing;
int tamis__size(struct tamis_sizing *sizing);

/* The rate of kind bloom if the positions of a key are independent: without what a hash set repeats
 * (hash/repeat.h). */
double tamis__independent_rate(uint64_t m_bits, uint32_t k, uint64_t n);
/* The load of a filter of kind bloom with n keys. */
struct tamis__load tamis__load_of(uint64_t m_bits, uint32_t k, uint64_t n);

/* Chance that q picks with repetition all hit set bits in a word of 64 of which `ones` are set. */
double tamis__word_hit_rate(uint32_t ones, uint32_t q);

/*
 * Estimates how many keys have set `ones` of m bits, and how far the estimate may be off: one
 * standard error, for a filter of `items` keys (estimate.c).  k must be one that the kind has.
 */
double tamis__estimate_items(uint32_t kind, uint64_t m_bits, uint32_t k, uint64_t ones);
double tamis__estimate_error(uint32_t kind, uint64_t m_bits, uint32_t k, double items);

/*
 * How many bits keys set, for hash sets whose positions are uniform and independent (estimate.c).
 * tamis__spread_of_items() looks at all m bits, set by `items` keys.  tamis__spread_of_share()
 * looks at `places` of them (whole blocks, or any bits), when a share of them is set on average in
 * a filter that is far larger.
 *
 * Chance leads further from the mean than the bound less often than once in e^29 times
 * (docs/sizing.md).  The bound is eight standard deviations plus, by Bernstein's inequality, a
 * third of 64 times `unit`.  `unit` is the most that one bit adds to the deviation; for a blocked
 * filter it is the standard deviation of what one block adds.
 */
#define TAMIS__SPREAD_DEVIATIONS 8.0
struct tamis__spread {
    double mean, deviation, unit;
};
struct tamis__spread tamis__spread_of_items(uint32_t kind, uint64_t m_bits, uint32_t k,
                                            double items);
struct tamis__spread tamis__spread_of_share(uint32_t kind, uint32_t k, uint64_t places,
                                            double share);
double tamis__spread_bound(const struct tamis__spread *spread);

/* Can a filter of the kind have counters of `bits` bits?  If not, returns TAMIS_EINVAL with a
 * sentence. */
int tamis__check_counter_bits(uint32_t kind, uint32_t bits);

/* 1 - (1 - a)(1 - b): the rate of two filters that are asked one after the other.  It is written so
 * that rates under 2^-53 do not cancel to 0. */
static inline double tamis__either_rate(double a, double b)
{
    return a + b * (1 - a);
}

/* Is p a rate that a filter can be asked for?  False for NaN too. */
bool tamis__rate_is_valid(double p);
/* A segment may have a smaller rate than a filter: those of a list share the rate of the filter. */
#define TAMIS__SEGMENT_RATE_MIN 1e-18
/* Returns TAMIS_EINVAL with the sentence that p is not a valid rate. */
int tamis__fail_rate(double p);
