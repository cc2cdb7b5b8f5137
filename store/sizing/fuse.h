/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuse.h: computes the shape of a binary fuse filter (kind/fuse.h) from the number of its keys.  It
 * uses integers alone, so that the same keys make the same bytes on every machine.
 */
#pragma once

#include "base/base.h"

/* More keys than any file system holds fingerprints for.  Up to this number no
 * sum below overflows. */
#define TAMIS__FUSE_KEYS_MAX ((uint64_t)1 << 48)
/* Each slot of a key within its segment is cut from 16 bits of the hash. */
#define TAMIS__FUSE_SEGMENT_SLOTS_MIN 8u
#define TAMIS__FUSE_SEGMENT_SLOTS_MAX 65536u
#define TAMIS__FUSE_ARITY 3u

/*
 * A piece has piece_segments + 2 segments of segment_slots slots (such a segment is no file).  The
 * first slot of a key lies in one of the first piece_segments, the second and third in the two
 * segments after that one.  A filter without keys has no pieces, and one word of zeros for data.
 */
struct tamis__fuse_shape {
    uint32_t fingerprint_bits; /* 8 to 32 */
    uint32_t pieces;
    uint32_t piece_segments;
    uint32_t segment_slots; /* a power of two */
};

/* Fingerprints of 8, 16 and 32 bits are integers in an array. Those of other widths are packed: bit
 * `slot * f` is the first one of slot `slot`, counted from the lowest bit of the first byte. A
 * packed fingerprint is read as the 8 bytes that begin with its first byte, so as many zeros stand
 * behind the last one. */
#define TAMIS__FUSE_END_BYTES 8u
static inline bool tamis__fuse_is_packed(uint32_t fingerprint_bits)
{
    return fingerprint_bits != 8 && fingerprint_bits != 16 && fingerprint_bits != 32;
}

/* The smallest f, of 8 to 32, with 2^-f <= fp_rate; 0 if there is none. */
uint32_t tamis__fuse_fingerprint_bits(double fp_rate);

/* The number of pieces follows from the number of distinct keys alone, at most
 * TAMIS__FUSE_KEYS_MAX. */
uint32_t tamis__fuse_pieces(uint64_t keys);
/* Gives the shape for pieces of which the fullest holds fullest_piece_keys keys. */
void tamis__fuse_shape(uint64_t fullest_piece_keys, uint32_t fingerprint_bits, uint32_t pieces,
                       struct tamis__fuse_shape *shape);

/* The rate at which fingerprints of that width let a stranger in, if they are of n keys: 2^-bits
 * (Graf and Lemire 2022), and 0 without keys. */
double tamis__static_rate(uint32_t fingerprint_bits, uint64_t n);
/* tamis_size() for kind fuse: completes a struct whose values are in range. */
int tamis__fuse_size(struct tamis_sizing *sizing);

/* Could tamis__fuse_shape() give this shape?  Only then do the sums below mean something. */
bool tamis__fuse_shape_is_valid(const struct tamis__fuse_shape *shape);
uint64_t tamis__fuse_piece_slots(const struct tamis__fuse_shape *shape);
/* Bits of all fingerprints, which is the m of the segment file; 64 where there are no pieces. */
uint64_t tamis__fuse_m_bits(const struct tamis__fuse_shape *shape);
/* Bytes of the seeds of the pieces, which stand before the fingerprints; a multiple of 64. */
uint64_t tamis__fuse_seeds_bytes(uint32_t pieces);
/* Bits of the data besides the fingerprints: the seeds, and the zeros behind packed fingerprints.
 */
uint64_t tamis__fuse_other_bits(uint32_t pieces, uint32_t fingerprint_bits);
/* Bits of all data, for tamis__static_layout(). */
uint64_t tamis__fuse_data_bits(const struct tamis__fuse_shape *shape);
