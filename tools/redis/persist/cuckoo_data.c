/* SPDX-License-Identifier: BSD-2-Clause */
/* cuckoo_data.c: see cuckoo_data.h. */
#include "persist/cuckoo_data.h"

#include <string.h>

#include "persist/freeze.h"

#define DIGEST_BYTES 16u /* at the end of a stream (docs/exchange.md) */

static const char mark[8] = {'T', 'A', 'M', 'I', 'S', 'C', 'F', '1'};

/* Writes the mark for a stream of that many bytes. */
static void write_mark(uint64_t stream_bytes, char at[CUCKOO_MARK_BYTES])
{
    memcpy(at, mark, sizeof mark);
    memcpy(at + sizeof mark, &stream_bytes, sizeof stream_bytes);
}

char *cuckoo_data(const struct value *value, size_t *bytes)
{
    size_t count = 0;
    char *own = NULL;
    const char *stream = freeze_stream(value, &count);
    if (stream == NULL) stream = own = stream_in_memory(value, &count);
    if (stream == NULL) return NULL;
    char *data = RedisModule_Alloc(CUCKOO_MARK_BYTES + count);
    write_mark(count, data);
    memcpy(data + CUCKOO_MARK_BYTES, stream, count);
    RedisModule_Free(own);
    *bytes = CUCKOO_MARK_BYTES + count;
    return data;
}

/* A part of a stream. */
struct part {
    char *data;
    size_t bytes, room;
    uint64_t from; /* where the part begins in the stream */
    uint64_t at;   /* where the next bytes of the sink are */
};

static int take_part(void *context, const void *data, size_t bytes)
{
    struct part *part = context;
    const uint64_t before = part->from > part->at ? part->from - part->at : 0;
    part->at += bytes;
    if (before >= bytes) return 0;
    const size_t room = part->room - part->bytes, there = bytes - (size_t)before;
    const size_t now = there < room ? there : room;
    memcpy(part->data + part->bytes, (const char *)data + before, now);
    part->bytes += now;
    return 0;
}

/* Reads a part of the stream, and tells the length of all of it.  `whole`: with the digest. */
static int read_part(const struct value *value, bool whole, struct part *part, uint64_t *all_bytes)
{
    const struct tamis_sink sink = {.size = sizeof sink,
                                    .write = take_part,
                                    .context = part,
                                    .from = whole ? 0 : part->from,
                                    .bytes = whole ? 0 : part->room,
                                    .all_bytes = all_bytes};
    part->bytes = 0;
    part->at = sink.from;
    return tamis_filter_export(value->filter, "tamis", TAMIS_EXPORT_WITH_KEY, &sink);
}

int64_t cuckoo_piece(const struct value *value, uint64_t position, char **piece)
{
    const bool begins = position < CUCKOO_MARK_BYTES;
    const size_t head = begins ? CUCKOO_MARK_BYTES - (size_t)position : 0;
    char start[CUCKOO_MARK_BYTES];
    uint64_t all_bytes = 0;
    *piece = RedisModule_Alloc(CUCKOO_PIECE_BYTES);
    struct part part = {.data = *piece + head,
                        .room = CUCKOO_PIECE_BYTES - head,
                        .from = begins ? 0 : position - CUCKOO_MARK_BYTES};
    int rc = read_part(value, false, &part, &all_bytes);
    if (rc == 0 && part.bytes > 0 && part.from + part.bytes + DIGEST_BYTES > all_bytes)
        rc = read_part(value, true, &part, &all_bytes);
    if (rc < 0) return rc;
    write_mark(all_bytes, start);
    memcpy(*piece, start + sizeof start - head, head);
    return (int64_t)(head + part.bytes);
}

bool cuckoo_is_mark(const char *data, size_t bytes)
{
    return bytes >= CUCKOO_MARK_BYTES && memcmp(data, mark, sizeof mark) == 0;
}
