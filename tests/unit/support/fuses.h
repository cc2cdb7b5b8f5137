/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuses.h: fuse segments in plain memory, from keys that are numbers.
 */
#ifndef TAMIS_UNIT_FUSES_H
#define TAMIS_UNIT_FUSES_H

#include "fixture.h"
#include "kind/fuse.h"

/* The keys are the 8 bytes of first .. first + count - 1. */
struct fuses {
    struct tamis__segment segment;
    struct tamis__fuse_shape shape;
    uint64_t *digests; /* sorted */
    uint64_t first, count;
};
#define FUSES_SEED 99 /* of the hash */

void fuses_make(struct fuses *fuses, uint64_t first, uint64_t count, uint32_t fingerprint_bits);
void fuses_free(struct fuses *fuses);
/* Freed at the end of its block, see auto.h. */
#define AUTO_FUSES __attribute__((cleanup(fuses_free))) struct fuses

/* The sorted digests of such keys; the caller frees them. */
uint64_t *fuses_digests(uint64_t first, uint64_t count);

/* The shape of that many sorted digests, by the fullest of their pieces. */
void fuses_shape(const uint64_t *digests, uint64_t count, uint32_t fingerprint_bits,
                 struct tamis__fuse_shape *shape);

/* A header for that shape, sealed, as fixture_header() makes others. */
void fuses_header(const struct tamis__fuse_shape *shape, uint64_t items,
                  struct tamis__segment_header *header);

#endif
