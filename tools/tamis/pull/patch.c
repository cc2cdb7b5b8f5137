/* SPDX-License-Identifier: BSD-2-Clause */
/* patch.c: a frame of zstd --patch-from, by libzstd; see patch.h. */
#include "pull/patch.h"

#include <zstd.h>

#define PART_BYTES ((size_t)1024 * 1024)
#define WINDOW_LOG_MIN 27 /* zstd's own bound */
#define WINDOW_LOG_MAX 31 /* as zstd --long=31: the window has all of the list before */
/* A list does not double in a night; a frame of some bytes can say that it makes gigabytes. */
#define GROWS_BY_MOST ((uint64_t)64 * 1024 * 1024)

static bool unpack(ZSTD_DCtx *context, ZSTD_inBuffer *in, uint64_t all, struct spool *spool)
{
    void *out = cli_alloc(PART_BYTES);
    size_t left = 1;
    bool good = true;
    while (good && left != 0) {
        ZSTD_outBuffer part = {.dst = out, .size = PART_BYTES};
        const size_t taken = in->pos;
        left = ZSTD_decompressStream(context, &part, in);
        good = !ZSTD_isError(left) && (part.pos > 0 || in->pos > taken || left == 0) &&
               part.pos <= all - spool->bytes && !interrupt_signal() &&
               spool_put(spool, out, part.pos);
    }
    free(out);
    return good && in->pos == in->size && spool->bytes == all;
}

/* The window that has to hold the list before, or the new one. */
static int window_log(uint64_t bytes)
{
    int log = WINDOW_LOG_MIN;
    while (log < WINDOW_LOG_MAX && (UINT64_C(1) << log) < bytes)
        log++;
    return log;
}

bool patch_apply(const void *patch, size_t patch_bytes, const void *base, size_t base_bytes,
                 uint64_t most, struct spool *spool, const struct notes *notes)
{
    const unsigned long long all = ZSTD_getFrameContentSize(patch, patch_bytes);
    if (all == ZSTD_CONTENTSIZE_UNKNOWN || all == ZSTD_CONTENTSIZE_ERROR || all > most ||
        all > 2 * (uint64_t)base_bytes + GROWS_BY_MOST)
        return false;
    if (spool_begin(spool, notes) != CLI_DONE) return false;
    ZSTD_DCtx *context = ZSTD_createDCtx();
    if (context == NULL) cli_no_memory();
    ZSTD_inBuffer in = {.src = patch, .size = patch_bytes};
    const bool good =
        !ZSTD_isError(ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax,
                                             window_log(all > base_bytes ? all : base_bytes))) &&
        !ZSTD_isError(ZSTD_DCtx_refPrefix(context, base, base_bytes)) &&
        unpack(context, &in, all, spool);
    (void)ZSTD_freeDCtx(context);
    return good;
}
