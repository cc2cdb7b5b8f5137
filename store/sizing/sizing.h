/* SPDX-License-Identifier: BSD-2-Clause */
/* sizing.h: pure arithmetic between n, p, m and k; the public face is tamis_size(). */
#ifndef TAMIS_SIZING_SIZING_H
#define TAMIS_SIZING_SIZING_H

#include <stdbool.h>
#include <stdint.h>

/* A blocked filter's block: one cache line. */
#define TAMIS__BLOCK_BITS 512u
#define TAMIS__BLOCK_WORDS 8u

/* No bit array is larger: 2^62 bits are 512 PiB, past every file system, and sums cannot overflow.
 */
#define TAMIS__M_BITS_MAX ((uint64_t)1 << 62)
#define TAMIS__CAPACITY_MAX ((uint64_t)1 << 56)

/*
 * z, the words a key touches in its block, as its k tells it: 2 words for k = 2, 4, ... 10, 4 words
 * for k = 12, 16, ... 40; 0 for a k that no blocked filter has.
 */
uint32_t tamis__blocked_words(uint32_t k);

/* tamis_size() for a struct of our own, also for rates down to TAMIS__SEGMENT_RATE_MIN. */
struct tamis_sizing;
int tamis__size(struct tamis_sizing *sizing);

/* Rates for n keys: exact up to what the head comment of sizing.c says. */
double tamis__bloom_rate(uint64_t m_bits, uint32_t k, uint64_t n);
double tamis__blocked_rate(uint64_t blocks, uint32_t k, uint64_t n);

/* Chance that q picks with repetition all hit set bits in a word of 64 of which `ones` are set. */
double tamis__word_hit_rate(uint32_t ones, uint32_t q);

/*
 * How many keys have set `ones` of m bits, and by how much that may be off: one standard error, for
 * a filter of so many keys (estimate.c).  k is one that the kind has.
 */
double tamis__estimate_items(uint32_t kind, uint64_t m_bits, uint32_t k, uint64_t ones);
double tamis__estimate_error(uint32_t kind, uint64_t m_bits, uint32_t k, double items);

/*
 * How many bits keys set, of hash sets whose positions are uniform and independent (estimate.c).
 * _of_items: of all m, by so many keys.  _of_share: of `places` of them (whole blocks, or any), of
 * which such a share is set on average in a filter that is far larger.  Further from the mean than
 * the bound chance leads less often than once in e^29 times (docs/sizing.md): eight standard
 * deviations, and by Bernstein's inequality a third of 64 times `unit`, the most that a bit (of a
 * blocked filter: the standard deviation of what a block) adds to it.
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

/*
 * Where the bits lie in a segment file.  Large data starts on a 2 MiB boundary, so that huge folios
 * and page-table entries fit it; small data follows the header, so that ten thousand filters stay
 * small.
 */
#define TAMIS__HEADER_BYTES 4096u
#define TAMIS__LARGE_BYTES ((uint64_t)32 << 20)
#define TAMIS__LARGE_OFFSET ((uint64_t)2 << 20)
#define TAMIS__FILE_UNIT 4096u

struct tamis__layout {
    uint64_t data_offset;
    uint64_t data_bytes; /* a multiple of 8 */
    uint64_t file_bytes; /* a multiple of TAMIS__FILE_UNIT */
};
void tamis__layout(uint64_t data_bits, struct tamis__layout *layout);
/* Of what is never written again: right behind the header, so that not a bit a key is spent on
 * nothing. */
void tamis__static_layout(uint64_t data_bits, struct tamis__layout *layout);
/* Its data_bytes alone. */
uint64_t tamis__data_bytes(uint64_t data_bits);

/*
 * A counting filter has m counters where a blocked one has m bits.  Counters that outgrow their
 * bits go on in an overflow table behind the data: levels of 16-byte slots, the first of a 256th as
 * many as there are counters, each further one twice the one before.  All together have at least
 * two slots for every counter, so that they hold all of them.
 */
#define TAMIS__COUNTER_BITS_DEFAULT 4u
#define TAMIS__COUNTERS_MAX ((uint64_t)1 << 40)
#define TAMIS__SLOT_BYTES 16u
bool tamis__counter_bits_are_valid(uint32_t bits); /* 4, 8, 16 or 32 */
/* Do they go with the kind?  TAMIS_EINVAL with a sentence. */
int tamis__check_counter_bits(uint32_t kind, uint32_t bits);
/* Bits of the data of a segment: m, times what a counter takes where it has counters. */
uint64_t tamis__data_bits(uint64_t m_bits, uint32_t counter_bits);
uint64_t tamis__overflow_slots(uint64_t counters, uint32_t level);
uint32_t tamis__overflow_levels_max(uint64_t counters);
/* Of the first `levels` levels together. */
uint64_t tamis__overflow_bytes(uint64_t counters, uint32_t levels);

/* 1 - (1 - a)(1 - b): the rate of two filters that are asked one after the other.  Written so that
 * rates under 2^-53 do not cancel to 0. */
static inline double tamis__either_rate(double a, double b)
{
    return a + b * (1 - a);
}

/* Is p a rate that a filter can be asked for?  False for NaN too. */
bool tamis__rate_is_valid(double p);
/* A segment may have a smaller rate than a filter: those of a list share the rate of the filter. */
#define TAMIS__SEGMENT_RATE_MIN 1e-18
/* TAMIS_EINVAL: p is not valid. */
int tamis__fail_rate(double p);

#endif
