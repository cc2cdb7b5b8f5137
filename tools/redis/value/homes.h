/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * homes.h: what each home of a value does in its own way; and a filter of BF.* as BF.SCANDUMP and
 * BF.LOADCHUNK have it, in either home: its head, and its data in pieces.  The data are those of
 * all layers, the oldest first, seen as one string.
 */
#pragma once

#include "value/memory.h"
#include "value/stored.h"

/* Frees a value with all that its home has.  Any thread. */
void value_free(void *value);
/* What BF.INFO calls its size: 32 bytes, 64 for each layer, and their data. */
uint64_t value_size_bytes(const struct value *value);
/* The items of a filter of BF.*, or an error. */
int64_t value_items(const struct value *value);

#define PIECE_BYTES ((uint64_t)16 << 20) /* RedisBloom cuts there */

/* Writes the head.  Returns its bytes, or an error. */
int64_t pieces_head(const struct value *value, unsigned char head[HEAD_ROOM]);
/* Makes the layers of a filter of the store, which is open and plain, with no bit set.  Returns 0
 * or an error. */
int pieces_outline(const struct value *value, struct memory **memory);
/* How many bytes follow byte `position` in its layer; 0: it is past the end. */
uint64_t pieces_left(const struct value *value, uint64_t position);
/* Reads `most` bytes from there, or what the layer has.  *piece is in the filter's memory, or
 * *buffer has it, which the caller frees.  Returns its bytes, 0 past the end, or an error. */
int64_t pieces_read(const struct value *value, uint64_t position, uint64_t most, const void **piece,
                    char **buffer);
/* Sets the bits of a piece, which is within a layer. */
int pieces_write(const struct value *value, uint64_t position, const void *data, size_t bytes);
