/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuse.h: where a key's fingerprint lies in a segment of kind fuse.  Used by queries (fuse.c) and
 * by the build (build/piece.c).
 *
 *     digest of the key, 64 bits: the low half of its XXH3-128 or SipHash
 *          |
 *          |  * pieces          the piece: a range of digests
 *          +--- fraction, 64 bits: how far into the piece's range the digest lies
 *          |       |
 *          |       |  * piece_segments * segment_slots        slot 0: rises with the digest
 *          |
 *          |  multiplied with the piece's seed
 *          +--- hash, 64 bits
 *                  0 .. 15   in the next segment, by XOR with where slot 0 lies in its own: slot 1
 *                 16 .. 31   in the segment after that: slot 2
 *                 32 .. 63   fingerprint, of which the low 8 to 32 bits are kept
 *
 * A key is in when the XOR of its three slots is its fingerprint (Graf and Lemire, "Binary Fuse
 * Filters: Fast and Smaller Than Xor Filters", 2022).  Slot 0 rises with the digest, so that the
 * work on sorted digests is a walk through memory (docs/decisions/0013).  The price is that another
 * seed moves only the other two slots.
 *
 * The data: `pieces` seeds of 8 bytes, zeros up to a multiple of 64, the fingerprints of piece 0,
 * of piece 1, ...  Those of 8, 16 or 32 bits are integers, those of other widths are packed
 * (sizing/fuse.h).
 */
#pragma once

#include "hash/digester.h"
#include "segment/segment.h"
#include "sizing/fuse.h"

static inline uint64_t tamis__fuse_digest(const struct tamis__digester *by, const void *key,
                                          size_t key_bytes)
{
    return tamis__digest_by(by, key, key_bytes).low;
}

/* The part of a shape that the arithmetic needs. */
struct tamis__fuse_geometry {
    uint64_t pieces;
    uint64_t first_slots; /* piece_segments * segment_slots: slot 0 is below it */
    uint64_t segment_slots;
};

struct tamis__fuse_place {
    uint64_t slots[TAMIS__FUSE_ARITY]; /* within the piece */
    uint32_t fingerprint;              /* 32 bits of it */
};

static inline struct tamis__fuse_geometry
tamis__fuse_geometry(uint32_t pieces, uint32_t piece_segments, uint32_t segment_slots)
{
    return (struct tamis__fuse_geometry){.pieces = pieces,
                                         .first_slots = (uint64_t)piece_segments * segment_slots,
                                         .segment_slots = segment_slots};
}

#define TAMIS__FUSE_MULTIPLIER 0x9E3779B97F4A7C15u /* 2^64 / golden ratio */

/* Folds both halves of the product, so that each bit depends on each bit of digest and seed. */
static inline uint64_t tamis__fuse_hash(uint64_t digest, uint64_t seed)
{
    const tamis__u128 product = (tamis__u128)(digest ^ seed) * TAMIS__FUSE_MULTIPLIER;
    return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

/* Every slot is below (piece_segments + 2) * segment_slots, whatever the digest and the seed. */
static inline struct tamis__fuse_place tamis__fuse_place(const struct tamis__fuse_geometry *g,
                                                         uint64_t digest, uint64_t seed)
{
    const uint64_t hash = tamis__fuse_hash(digest, seed), mask = g->segment_slots - 1;
    const uint64_t first = tamis__scale(digest * g->pieces, g->first_slots);
    return (struct tamis__fuse_place){
        .slots = {first, (first + g->segment_slots) ^ (hash & mask),
                  (first + 2 * g->segment_slots) ^ (hash >> 16 & mask)},
        .fingerprint = (uint32_t)(hash >> 32)};
}

/* The shape that a header describes; kind->check() has passed it. */
static inline struct tamis__fuse_shape
tamis__fuse_header_shape(const struct tamis__segment_header *header)
{
    return (struct tamis__fuse_shape){.fingerprint_bits = header->fingerprint_bits,
                                      .pieces = header->pieces,
                                      .piece_segments = header->piece_segments,
                                      .segment_slots = header->segment_slots};
}

/* A segment as the loops over keys use it. */
struct tamis__fuse_ask {
    struct tamis__fuse_geometry geometry;
    uint64_t piece_slots;
    const uint64_t *seeds;
    const void *fingerprints;
    uint32_t bits; /* of a fingerprint */
    struct tamis__digester by;
};

static inline struct tamis__fuse_ask tamis__fuse_ask_of(const struct tamis__segment *segment)
{
    const struct tamis__segment_header *h = segment->header;
    return (struct tamis__fuse_ask){
        .geometry = tamis__fuse_geometry(h->pieces, h->piece_segments, h->segment_slots),
        .piece_slots = ((uint64_t)h->piece_segments + 2) * h->segment_slots,
        .seeds = segment->data,
        .fingerprints = (const unsigned char *)segment->data + tamis__fuse_seeds_bytes(h->pieces),
        .bits = h->fingerprint_bits,
        .by = tamis__header_digester(h)};
}

/* The loops over keys have an instance for each width that is an integer, and one for all that are
 * packed. So `bytes` is a constant: those of a fingerprint, or TAMIS__FUSE_PACKED. */
#define TAMIS__FUSE_PACKED 0u

/* Where the fingerprint of a slot begins, in bytes. */
TAMIS__INLINE uint64_t tamis__fuse_offset(uint64_t slot, uint32_t bytes, uint32_t bits)
{
    return bytes == TAMIS__FUSE_PACKED ? slot * bits / 8 : slot * bytes;
}

/* The fingerprint of a slot in the low bits. Above a packed one stand bits of its neighbours. */
TAMIS__INLINE uint32_t tamis__fuse_fingerprint(const void *fingerprints, uint64_t slot,
                                               uint32_t bytes, uint32_t bits)
{
    const unsigned char *at =
        (const unsigned char *)fingerprints + tamis__fuse_offset(slot, bytes, bits);
    if (bytes == TAMIS__FUSE_PACKED) return (uint32_t)(tamis__get64(at) >> (slot * bits % 8));
    if (bytes == 1) return *at;
    if (bytes == 2) return ((const uint16_t *)fingerprints)[slot];
    return ((const uint32_t *)fingerprints)[slot];
}

/* Ones in the low bits, as many as a fingerprint has. */
TAMIS__INLINE uint32_t tamis__fuse_mask(uint32_t bytes, uint32_t bits)
{
    return (uint32_t)(((uint64_t)1 << (bytes == TAMIS__FUSE_PACKED ? bits : 8 * bytes)) - 1);
}

/* Returns `bytes` of the instance that handles fingerprints of `bits` bits. */
static inline uint32_t tamis__fuse_instance(uint32_t bits)
{
    return tamis__fuse_is_packed(bits) ? TAMIS__FUSE_PACKED : bits / 8;
}

/* As contains and contains_batch of the kind, but by digest (that of tamis__fuse_digest with
 * the header's digester). */
int tamis__fuse_contains_digest(const struct tamis__segment *segment, uint64_t digest);
size_t tamis__fuse_contains_digests(const struct tamis__segment *segment, const uint64_t *digests,
                                    size_t count, uint8_t *answers);

/* Asks for keys, or for digests; the other pointer is NULL.  For segments that have pieces, each
 * with fewer than 2^32 slots.  Returns how many of the answers are 1. */
typedef size_t tamis__fuse_run_fn(const struct tamis__segment *segment,
                                  const struct tamis_key *keys, const uint64_t *digests,
                                  size_t count, uint8_t *answers);
tamis__fuse_run_fn tamis__fuse_run_avx512;

/* Returns the piece that a digest belongs to; it rises with the digest. */
static inline uint64_t tamis__fuse_piece(uint64_t digest, uint32_t pieces)
{
    return tamis__scale(digest, pieces);
}
