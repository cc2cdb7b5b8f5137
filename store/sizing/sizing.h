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

/* Rates for n keys: exact up to what the head comment of sizing.c says. */
double tamis__bloom_rate(uint64_t m_bits, uint32_t k, uint64_t n);
double tamis__blocked_rate(uint64_t blocks, uint32_t k, uint64_t n);

/* Chance that q picks with repetition all hit set bits in a word of 64 of which `ones` are set. */
double tamis__word_hit_rate(uint32_t ones, uint32_t q);

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
void tamis__layout(uint64_t m_bits, struct tamis__layout *layout);

/* Is p a rate that a filter can be asked for?  False for NaN too. */
bool tamis__rate_is_valid(double p);

#endif
