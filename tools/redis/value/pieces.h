/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pieces.h: the data of a filter in pieces, as BF.SCANDUMP and BF.LOADCHUNK count them: those of
 * all layers, the oldest first, seen as one string.  In either home.
 */
#pragma once

#include "value/stored.h"

#define PIECE_BYTES ((uint64_t)16 << 20) /* RedisBloom cuts there */

/* How many bytes follow byte `position` in its layer; 0: it is past the end. */
uint64_t pieces_left(const struct value *value, uint64_t position);
/* Reads the piece that begins there.  *piece is in the filter's memory, or *buffer has it, which
 * the caller frees.  Returns its bytes, 0 past the end, or an error. */
int64_t pieces_read(const struct value *value, uint64_t position, const void **piece,
                    char **buffer);
/* Sets the bits of a piece, which is within a layer. */
int pieces_write(const struct value *value, uint64_t position, const void *data, size_t bytes);
