/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuse.h: the shape of a binary fuse filter (kind/fuse.h) from the number of its keys: integers
 * alone, so that the same keys make the same bytes on every machine.
 */
#ifndef TAMIS_SIZING_FUSE_H
#define TAMIS_SIZING_FUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "tamis.h"

/* Far more keys than any file system holds fingerprints for; no sum below overflows. */
#define TAMIS__FUSE_KEYS_MAX ((uint64_t)1 << 48)
/* A key's slots in their segments are cut from 16 bits of its hash each. */
#define TAMIS__FUSE_SEGMENT_SLOTS_MIN 8u
#define TAMIS__FUSE_SEGMENT_SLOTS_MAX 65536u
#define TAMIS__FUSE_ARITY 3u

/*
 * A piece has piece_segments + 2 segments of segment_slots slots; a key's first slot lies in one of
 * the first piece_segments, its second and third in the two after that.  No keys: no pieces, and
 * one word of zeros for data.
 */
struct tamis__fuse_shape {
    uint32_t fingerprint_bits; /* 8, 16 or 32 */
    uint32_t pieces;
    uint32_t piece_segments;
    uint32_t segment_slots; /* a power of two */
};

bool tamis__fingerprint_bits_are_valid(uint32_t bits);
/* The smallest f with 2^-f <= fp_rate; 0: there is none. */
uint32_t tamis__fuse_fingerprint_bits(double fp_rate);

/* From the number of distinct keys alone, at most TAMIS__FUSE_KEYS_MAX. */
uint32_t tamis__fuse_pieces(uint64_t keys);
/* The shape whose pieces hold that many keys each, the fullest one's number. */
void tamis__fuse_shape(uint64_t fullest_piece_keys, uint32_t fingerprint_bits, uint32_t pieces,
                       struct tamis__fuse_shape *shape);
/* The shape that so many keys are likely to have: of their pieces the fullest is as full as such
 * usually are. */
void tamis__fuse_likely_shape(uint64_t keys, uint32_t fingerprint_bits,
                              struct tamis__fuse_shape *shape);

/* tamis_size() for kind fuse: completes what is in range. */
int tamis__fuse_size(struct tamis_sizing *sizing);

/* Is it one that tamis__fuse_shape() could give, so that the sums below mean something? */
bool tamis__fuse_shape_is_valid(const struct tamis__fuse_shape *shape);
uint64_t tamis__fuse_piece_slots(const struct tamis__fuse_shape *shape);
/* Of all fingerprints: the segment's m.  64 where there are no pieces. */
uint64_t tamis__fuse_m_bits(const struct tamis__fuse_shape *shape);
/* Of the pieces' seeds, which the fingerprints follow: a multiple of 64. */
uint64_t tamis__fuse_seeds_bytes(uint32_t pieces);
/* Both, for tamis__static_layout(). */
uint64_t tamis__fuse_data_bits(const struct tamis__fuse_shape *shape);

#endif
