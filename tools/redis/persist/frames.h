/* SPDX-License-Identifier: BSD-2-Clause */
/* frames.h: a filter of RedisBloom of one layer as a stream of format redisbloom: the answers of
 * BF.SCANDUMP in frames (docs/exchange.md). */
#pragma once

#include "server/redis_api.h"
#include "value/drafts.h"

/* Makes the stream of a head, and of the data of its layer.  It has no data if the filter does not
 * go into a drawer, or if the head is not a whole one of one layer. */
struct draft_stream frames_of_layer(const void *head, size_t head_bytes, const void *data,
                                    size_t data_bytes);
/* The head and the data in such a stream. */
struct frames {
    const char *head, *data;
    size_t head_bytes, data_bytes;
};
struct frames frames_in(const struct draft_stream *stream);
/* Saves both, as rdb_load_payload() loads them. */
void rdb_save_frames(RedisModuleIO *rdb, const struct draft_stream *stream);
