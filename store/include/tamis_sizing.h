/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tamis_sizing.h: how large a filter has to be for so many keys and a rate, and the other way
 * round. This is arithmetic alone; docs/sizing.md derives the formulas.
 */
#ifndef TAMIS_SIZING_H
#define TAMIS_SIZING_H

#include <stddef.h>
#include <stdint.h>

#include "tamis_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The size of a filter.  As an argument: what is known, the rest 0.  As a result: all fields.
 */
struct tamis_sizing {
    size_t size;           /* sizeof(struct tamis_sizing) */
    uint32_t kind;         /* enum tamis_kind; 0 is blocked                                      */
    uint32_t k;            /* hashes per key; blocked: z words times q bits                      */
    uint64_t capacity;     /* n, distinct keys                                                   */
    uint64_t m_bits;       /* size of the bit array; blocked: a multiple of 512; counting: number */
                           /* of counters, a multiple of 512 too; fuse: of all fingerprints      */
    double fp_rate;        /* p asked for, 0 < p < 1                                             */
    double predicted_rate; /* result: false-positive rate when `capacity` keys are in            */
    double bits_per_key;   /* result: m_bits / capacity; counting: times counter_bits; fuse: with */
                           /* the seeds of the pieces                                            */
    uint64_t data_bytes;   /* result: bytes of the bits, or the counters, in the file            */
    uint64_t file_bytes;   /* result: bytes of the whole segment file, all of them allocated     */
    uint32_t words;        /* result: z, words that one key touches in its block; 0 for bloom    */
    uint32_t counter_bits; /* counting: bits of a counter, 4, 8, 16 or 32; 0 is 4; else 0        */
    uint32_t fingerprint_bits; /* result: fuse: 8 to 32; else 0                                  */
    uint32_t pieces;           /* result: fuse: parts that are built each by itself; else 0      */
};

/*
 * Complete a sizing from any two (or three) of capacity, fp_rate, m_bits and k.
 *
 * n, p       the smallest m for which the predicted rate at n keys is at most p (and its k)
 * n, m       the k with the lowest predicted rate, and that rate
 * n, k       bloom: the m at which that k is optimal, m = n k / ln 2 (so p is about 2^-k)
 * p, m       the largest n whose predicted rate is at most p
 * p, k       bits_per_key, the only thing that follows; capacity and m_bits stay 0
 * m, k       the n at which the predicted rate reaches fp_rate, or 2^-k if fp_rate is 0
 * n, m, k    the predicted rate
 *
 * Kind fuse has only the rates 2^-8, 2^-16 and 2^-32, 3 slots for each key, and no k to choose
 * (0 or 3):
 *
 * n, p       the greatest of these rates that is at most p
 * n, m       the least of these rates that n keys have in m bits; the result's m is what they need
 * p, m       the largest n
 *
 * Its size depends a little on the keys, because one piece gets more of them than another: a build
 * may come out half a per cent smaller or larger.
 *
 * Where fp_rate was 0, the result holds the predicted rate in it.  Bloom uses the exact mean of
 * (X/m)^k (Bloom 1970; second-order term after Bose et al. 2008); blocked and counting use the
 * binomial mixture over block loads (Putze, Sanders, Singler 2007).  This is pure arithmetic,
 * without a system call.
 *
 * Returns    0.  TAMIS_EINVAL: a value out of range, or fewer than two given.  TAMIS_EUNSUPPORTED:
 *            a rate below 2^-32 of kind fuse.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_size(struct tamis_sizing *sizing);

/*
 * Returns the predicted false-positive rate of a filter of that kind, m and k which holds n
 * distinct keys.  Returns 0 for n == 0.  Returns NaN if the geometry is impossible, and for kind
 * fuse: its rate is that of its fingerprints, 2^-bits, whatever n.
 */
TAMIS_API double tamis_predict_rate(uint32_t kind, uint64_t m_bits, uint32_t k, uint64_t n);

#ifdef __cplusplus
}
#endif

#endif
