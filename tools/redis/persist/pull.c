/* SPDX-License-Identifier: BSD-2-Clause */
/* pull.c: see pull.h. */
#include "persist/pull.h"

#include <string.h>

#include "persist/load.h"
#include "value/head.h"

struct ahead {
    struct ahead *next;
    char *data;
    size_t bytes;
};

static int next_piece(struct pull *pull)
{
    struct ahead *ahead = pull->ahead;
    RedisModule_Free(pull->piece);
    pull->at = 0;
    if (ahead != NULL) {
        pull->piece = ahead->data;
        pull->bytes = ahead->bytes;
        pull->ahead = ahead->next;
        RedisModule_Free(ahead);
    } else {
        pull->piece = load_string(pull->rdb, &pull->bytes);
        if (load_has_failed(pull->rdb) || pull->piece == NULL) return TAMIS_EIO;
    }
    pull->ended = pull->bytes == 0;
    return 0;
}

int pull_skip(struct pull *pull)
{
    int rc = 0;
    while (rc == 0 && !pull->ended)
        rc = next_piece(pull);
    return rc;
}

/* Reads the next piece ahead; *end is where it is put. */
static int read_ahead(struct pull *pull, struct ahead ***end)
{
    struct ahead piece = {.data = NULL};
    piece.data = load_string(pull->rdb, &piece.bytes);
    if (load_has_failed(pull->rdb) || piece.data == NULL) {
        RedisModule_Free(piece.data);
        return TAMIS_EIO;
    }
    **end = RedisModule_Alloc(sizeof piece);
    ***end = piece;
    *end = &(**end)->next;
    return 0;
}

int pull_all(struct pull *pull)
{
    struct ahead **end = &pull->ahead;
    for (;;) {
        struct ahead **const last = end;
        const int rc = read_ahead(pull, &end);
        if (rc < 0) return rc;
        if (pull->all_bytes == 0 && head_is_too_large((*last)->data, (*last)->bytes))
            return TAMIS_ENOMEM;
        if ((*last)->bytes == 0) return 0;
        pull->all_bytes += (*last)->bytes;
    }
}

/* The pieces that were read ahead, in one. */
static char *join(const struct pull *pull, size_t bytes)
{
    char *joined = RedisModule_Alloc(bytes);
    size_t at = 0;
    for (const struct ahead *ahead = pull->ahead; ahead != NULL; ahead = ahead->next) {
        memcpy(joined + at, ahead->data, ahead->bytes);
        at += ahead->bytes;
    }
    return joined;
}

/* The stream of what was read ahead, if that is all of it, and goes into a drawer.  Nobody is told
 * later that it cannot be made: it must be sound from end to end. */
static void make_stream(const struct pull *pull, size_t bytes, struct draft_stream *stream)
{
    if (bytes == 0 || bytes > PULL_SMALL_BYTES || pull->durable) return;
    char *joined = join(pull, bytes);
    if (stream_is_whole(joined, bytes) &&
        tamis_stream_fits("tamis", joined, bytes) == TAMIS_STREAM_IN_DRAWER) {
        stream->data = joined;
        stream->bytes = bytes;
    } else {
        RedisModule_Free(joined);
    }
}

int pull_all_small(struct pull *pull, struct draft_stream *stream)
{
    const int rc = pull_all(pull);
    *stream = (struct draft_stream){.data = NULL};
    if (rc == 0) make_stream(pull, (size_t)pull->all_bytes, stream);
    return rc;
}

int pull_small(struct pull *pull, struct draft_stream *stream)
{
    struct ahead **end = &pull->ahead;
    size_t all = 0, last = 1;
    *stream = (struct draft_stream){.data = NULL};
    while (last > 0 && all <= PULL_SMALL_BYTES) {
        struct ahead **const piece = end;
        const int rc = read_ahead(pull, &end);
        if (rc < 0) return rc;
        last = (*piece)->bytes;
        all += last;
    }
    if (last == 0) make_stream(pull, all, stream);
    return 0;
}

void pull_clear(struct pull *pull)
{
    RedisModule_Free(pull->piece);
    pull->piece = NULL;
    while (pull->ahead != NULL) {
        struct ahead *ahead = pull->ahead;
        pull->ahead = ahead->next;
        RedisModule_Free(ahead->data);
        RedisModule_Free(ahead);
    }
}

static int64_t read_pulled(void *context, void *buffer, size_t bytes)
{
    struct pull *pull = context;
    while (!pull->ended && pull->at == pull->bytes) {
        const int rc = next_piece(pull);
        if (rc < 0) return rc;
    }
    const size_t left = pull->bytes - pull->at, now = left < bytes ? left : bytes;
    memcpy(buffer, pull->piece + pull->at, now);
    pull->at += now;
    return (int64_t)now;
}

bool pull_import_small(tamis_store *store, const struct tamis_filled *filled, tamis_filter **filter,
                       int *rc)
{
    if (tamis_stream_fits("tamis", filled->stream, filled->stream_bytes) != TAMIS_STREAM_IN_DRAWER)
        return false;
    *rc = tamis_filter_create_filled(store, filled, 1);
    if (*rc == 0) *rc = tamis_filter_open(store, filled->name, 0, filter);
    return true;
}

/* The same of what was read ahead. */
static bool import_ahead(const struct pull *pull, tamis_store *store, const char *name,
                         tamis_filter **filter, int *rc)
{
    const size_t bytes = (size_t)pull->all_bytes;
    if (bytes == 0 || bytes > PULL_SMALL_BYTES || pull->durable || pull->at > 0) return false;
    char *stream = join(pull, bytes);
    const struct tamis_filled filled = {.name = name,
                                        .created_at = pull->created_at,
                                        .stream = stream,
                                        .stream_bytes = bytes,
                                        .flags = TAMIS_IMPORT_OWNED};
    const bool done = pull_import_small(store, &filled, filter, rc);
    RedisModule_Free(stream);
    return done;
}

int pull_import(void *context, tamis_store *store, const char *name, tamis_filter **filter)
{
    struct pull *pull = context;
    const struct tamis_import_spec spec = {.size = sizeof spec,
                                           .flags = TAMIS_IMPORT_OWNED |
                                                    (pull->durable ? TAMIS_IMPORT_DURABLE : 0),
                                           .created_at = pull->created_at};
    const struct tamis_source source = {
        .size = sizeof source, .read = read_pulled, .context = context, .bytes = pull->all_bytes};
    int rc;
    if (import_ahead(pull, store, name, filter, &rc)) return rc;
    return tamis_filter_import(store, name, "tamis", &spec, &source, filter);
}
