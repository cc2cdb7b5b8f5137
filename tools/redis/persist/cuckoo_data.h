/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cuckoo_data.h: the data of a CF.* filter of kind counting, as CF.SCANDUMP and the AOF have them:
 * a mark, the number of bytes that follow (u64), and the filter as a stream.
 */
#pragma once

#include "value/value.h"

#define CUCKOO_MARK_BYTES 16u /* with the number of bytes */
/* Of a piece.  RedisBloom's own are larger; these are answered in a millisecond or two. */
#define CUCKOO_PIECE_BYTES ((size_t)1 << 20)

/* All data of a filter, which the caller frees by RedisModule_Free(); NULL if that failed. */
char *cuckoo_data(const struct value *value, size_t *bytes);
/*
 * Reads the piece of the data that begins at `position`, of at most CUCKOO_PIECE_BYTES, into
 * *piece, which the caller frees by RedisModule_Free().  The filter is read as far as the piece
 * goes, and once as a whole for the last piece, which ends with the digest of all: counts that
 * change between two pieces do not match it, and are refused where the pieces are loaded.
 *
 * Returns  the bytes of the piece, 0 past the end, or an error.
 */
int64_t cuckoo_piece(const struct value *value, uint64_t position, char **piece);
/* Do the data begin with the mark? */
bool cuckoo_is_mark(const char *data, size_t bytes);
