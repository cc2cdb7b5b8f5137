/* SPDX-License-Identifier: BSD-2-Clause */
/* zstd.c: Zstandard frames (RFC 8878), one after the other, by libzstd. */
#include <stdlib.h>
#include <zstd.h>

#include "input/packed.h"
#include "memory.h"

struct zstd {
    ZSTD_DStream *stream;
    bool whole;
};

static void *zstd_make(void)
{
    struct zstd *zstd = cli_alloc(sizeof *zstd);
    *zstd = (struct zstd){.stream = ZSTD_createDStream()};
    if (zstd->stream == NULL) cli_no_memory();
    return zstd;
}

/* This is also called when no input is left: unpacked bytes may still wait for room. */
static const char *zstd_step(void *state, struct unpacking *unpacking)
{
    struct zstd *zstd = state;
    ZSTD_inBuffer in = {.src = unpacking->from,
                        .size = (size_t)(unpacking->from_end - unpacking->from)};
    ZSTD_outBuffer out = {.dst = unpacking->to,
                          .size = (size_t)(unpacking->to_end - unpacking->to)};
    const char *why = NULL;
    while (out.pos < out.size) {
        const size_t taken = in.pos, put = out.pos;
        const size_t left = ZSTD_decompressStream(zstd->stream, &out, &in);
        if (ZSTD_isError(left)) {
            why = ZSTD_getErrorName(left);
            break;
        }
        if (left == 0 || in.pos > taken || out.pos > put) zstd->whole = left == 0;
        if (in.pos == taken && out.pos == put) break; /* it wants more */
    }
    unpacking->from += in.pos;
    unpacking->to += out.pos;
    return why;
}

static bool zstd_is_whole(const void *state)
{
    return ((const struct zstd *)state)->whole;
}

static void zstd_release(void *state)
{
    (void)ZSTD_freeDStream(((struct zstd *)state)->stream);
    free(state);
}

const struct unpacker unpacker_zstd = {
    .make = zstd_make, .step = zstd_step, .is_whole = zstd_is_whole, .release = zstd_release};
