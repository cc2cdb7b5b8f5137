/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pieces.h: the data of a filter in pieces, as BF.SCANDUMP and BF.LOADCHUNK count them: those of
 * all segments, the oldest first, seen as one string.
 */
#pragma once

#include "value/value.h"

#define PIECE_BYTES ((uint64_t)16 << 20) /* RedisBloom cuts there */

/* A place in the data. */
struct place {
    uint32_t segment;
    uint64_t offset; /* in the segment */
    uint64_t left;   /* bytes from there to the segment's end */
};

/* Where is byte `position` of the data?  False: past its end. */
bool pieces_find(const struct value *value, uint64_t position, struct place *place);
/* Reads the piece that begins there into *buffer, which it allocates; returns its bytes, 0 past the
 * end of the data, or an error. */
int64_t pieces_read(const struct value *value, uint64_t position, char **buffer);
