/* SPDX-License-Identifier: BSD-2-Clause */
/* piece.h: makes the fingerprints of one piece of a fuse filter from its digests. */
#pragma once

#include "sizing/fuse.h"

/* The number of seeds that are tried.  Of large pieces one in a hundred needs a second seed. */
#define TAMIS__PIECE_TRIES 100u

/* The bytes that building a piece of up to `keys` keys needs besides digests and fingerprints. */
size_t tamis__piece_workspace_bytes(const struct tamis__fuse_shape *shape, uint64_t keys);

/*
 * Builds one piece.  Any number of pieces can be built at once, each with a workspace of its own.
 *
 *     digests           count distinct digests of this piece, in ascending order (any order
 *                       will do, slower)
 *     workspace         of tamis__piece_workspace_bytes(shape, count), aligned to 8; its contents
 *                       do not matter
 *     fingerprints_out  tamis__fuse_piece_slots() times fingerprint_bits / 8 bytes, aligned to a
 *                       fingerprint; all are written.  Where fingerprints are packed, so are the
 *                       TAMIS__FUSE_END_BYTES behind these, with zeros
 *     seed_out          to be put among the data's seeds
 *
 * Returns 0.
 *     TAMIS_EINVAL   no seed of TAMIS__PIECE_TRIES will do, because digests repeat, or crowd as
 *                    hashes of keys never do by chance
 *     TAMIS_ELIMIT   over 2^32 slots
 * The same shape and digests give the same seed and bytes.
 */
int tamis__piece_build(const struct tamis__fuse_shape *shape, const uint64_t *digests,
                       uint64_t count, void *workspace, void *fingerprints_out, uint64_t *seed_out);
