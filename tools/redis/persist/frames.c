/* SPDX-License-Identifier: BSD-2-Clause */
/* frames.c: see frames.h. */
#include "persist/frames.h"

#include <string.h>

#include "persist/pull.h"
#include "value/head.h"

/* Before each frame: its iterator, and its bytes. */
#define FRAME_BYTES 16u

static char *put_frame(char *at, uint64_t iterator, uint64_t bytes)
{
    const uint64_t frame[2] = {iterator, bytes};
    memcpy(at, frame, sizeof frame);
    return at + sizeof frame;
}

/* A layer that has counted items has bits. */
static bool is_sound(const void *head, const char *data, size_t data_bytes)
{
    struct bloom_layer layer;
    size_t at = 0;
    bloom_head_layer(head, &layer);
    while (at < data_bytes && data[at] == 0)
        at++;
    return layer.items == 0 || at < data_bytes;
}

struct draft_stream frames_of_layer(const void *head, size_t head_bytes, const void *data,
                                    size_t data_bytes)
{
    unsigned char framed[HEAD_FRAME_BYTES + HEAD_ROOM];
    struct draft_stream stream = {.is_redisbloom = true};
    if (data_bytes > PULL_SMALL_BYTES || head_bytes != BLOOM_HEAD_BYTES + BLOOM_LAYER_BYTES ||
        head_data_bytes(head, head_bytes) != data_bytes || !is_sound(head, data, data_bytes))
        return stream;
    const size_t first = head_frame(head, head_bytes, framed);
    if (tamis_stream_fits("redisbloom", framed, first) != TAMIS_STREAM_IN_DRAWER) return stream;
    stream.bytes = first + 2 * (size_t)FRAME_BYTES + data_bytes;
    stream.data = RedisModule_Alloc(stream.bytes);
    memcpy(stream.data, framed, first);
    char *at = put_frame(stream.data + first, 1 + data_bytes, data_bytes);
    memcpy(at, data, data_bytes);
    (void)put_frame(at + data_bytes, 0, 0);
    return stream;
}

struct frames frames_in(const struct draft_stream *stream)
{
    struct frames frames = {.head = stream->data + HEAD_FRAME_BYTES};
    uint64_t bytes;
    memcpy(&bytes, frames.head - sizeof bytes, sizeof bytes);
    frames.head_bytes = (size_t)bytes;
    frames.data = frames.head + bytes + FRAME_BYTES;
    memcpy(&bytes, frames.data - sizeof bytes, sizeof bytes);
    frames.data_bytes = (size_t)bytes;
    return frames;
}

void rdb_save_frames(RedisModuleIO *rdb, const struct draft_stream *stream)
{
    const struct frames frames = frames_in(stream);
    RedisModule_SaveStringBuffer(rdb, frames.head, frames.head_bytes);
    RedisModule_SaveStringBuffer(rdb, frames.data, frames.data_bytes);
}
