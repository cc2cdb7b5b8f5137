/* SPDX-License-Identifier: BSD-2-Clause */
/* gzip.c: gzip members (RFC 1952), one after the other, by zlib, which checks length and CRC-32. */
#include <stdlib.h>
#define ZLIB_CONST /* next_in points to const */
#include <zlib.h>

#include "input/packed.h"
#include "memory.h"

#define WINDOW_GZIP (15 + 16) /* the largest window; a gzip header, and nothing else */

struct gzip {
    z_stream stream;
    bool whole;
};

static void *gzip_make(void)
{
    struct gzip *gzip = cli_alloc(sizeof *gzip);
    *gzip = (struct gzip){0};
    if (inflateInit2(&gzip->stream, WINDOW_GZIP) != Z_OK) cli_no_memory();
    return gzip;
}

/* This is also called when no input is left: unpacked bytes may still wait for room. */
static const char *gzip_step(void *state, struct unpacking *unpacking)
{
    struct gzip *gzip = state;
    z_stream *stream = &gzip->stream;
    stream->next_in = unpacking->from; /* both spans are far below 4 GiB */
    stream->avail_in = (uInt)(unpacking->from_end - unpacking->from);
    stream->next_out = unpacking->to;
    stream->avail_out = (uInt)(unpacking->to_end - unpacking->to);
    int rc = Z_OK;
    while (rc == Z_OK && stream->avail_out > 0 && !(gzip->whole && stream->avail_in == 0)) {
        if (gzip->whole) (void)inflateReset(stream); /* another member follows */
        rc = inflate(stream, Z_NO_FLUSH);
        gzip->whole = rc == Z_STREAM_END;
        if (gzip->whole) rc = Z_OK;
    }
    unpacking->from = stream->next_in;
    unpacking->to = stream->next_out;
    if (rc == Z_OK || rc == Z_BUF_ERROR) return NULL; /* Z_BUF_ERROR: it wants more */
    if (rc == Z_MEM_ERROR) cli_no_memory();
    return stream->msg != NULL ? stream->msg : "it needs a dictionary";
}

static bool gzip_is_whole(const void *state)
{
    return ((const struct gzip *)state)->whole;
}

static void gzip_release(void *state)
{
    (void)inflateEnd(&((struct gzip *)state)->stream);
    free(state);
}

const struct unpacker unpacker_gzip = {
    .make = gzip_make, .step = gzip_step, .is_whole = gzip_is_whole, .release = gzip_release};
