/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copy.c: COPY of a key.
 *
 * A copy goes as a stream from one filter into the other: a thread exports into a pipe, and the
 * import reads from it.  Nothing of it is in memory but the pipe.  A small stream is in memory, and
 * what is made of it goes into a drawer.
 */
#include "persist/copy.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "kept/kept.h"
#include "kept/still.h"
#include "keys/make.h"
#include "persist/pull.h"
#include "value/drafts.h"
#include "value/durable.h"
#include "value/exact.h"
#include "value/handles.h"
#include "value/light.h"
#include "value/valkey.h"

struct copying {
    tamis_filter *from;
    bool durable;
    int in, out;
    int rc;
};

static int write_pipe(void *context, const void *data, size_t bytes)
{
    const struct copying *copying = context;
    const char *at = data;
    while (bytes > 0) {
        const ssize_t done = write(copying->out, at, bytes);
        if (done <= 0) return TAMIS_EIO; /* the reader has failed, and its caller tells why */
        at += done;
        bytes -= (size_t)done;
    }
    return 0;
}

static int64_t read_pipe(void *context, void *buffer, size_t bytes)
{
    const struct copying *copying = context;
    const ssize_t got = read(copying->in, buffer, bytes);
    return got < 0 ? TAMIS_EIO : (int64_t)got;
}

static void *export_to_pipe(void *context)
{
    struct copying *copying = context;
    const struct tamis_sink sink = {.size = sizeof sink, .write = write_pipe, .context = copying};
    copying->rc = tamis_filter_export(copying->from, "tamis", TAMIS_EXPORT_WITH_KEY, &sink);
    (void)close(copying->out);
    return NULL;
}

static int import_from_pipe(struct copying *copying, tamis_store *store, const char *name,
                            tamis_filter **filter)
{
    const struct tamis_import_spec spec = {.size = sizeof spec,
                                           .flags = TAMIS_IMPORT_OWNED |
                                                    (copying->durable ? TAMIS_IMPORT_DURABLE : 0)};
    const struct tamis_source source = {
        .size = sizeof source, .read = read_pipe, .context = copying};
    pthread_t thread;
    int ends[2];
    if (pipe(ends) != 0) return TAMIS_ELIMIT;
    copying->in = ends[0];
    copying->out = ends[1];
    if (pthread_create(&thread, NULL, export_to_pipe, copying) != 0) {
        (void)close(ends[0]);
        (void)close(ends[1]);
        return TAMIS_ELIMIT;
    }
    const int rc = tamis_filter_import(store, name, "tamis", &spec, &source, filter);
    (void)close(
        ends[0]); /* if the other thread still writes, this ends it; the server ignores SIGPIPE */
    (void)pthread_join(thread, NULL);
    return copying->rc == TAMIS_EBUSY ? TAMIS_EBUSY : rc; /* the stream ended before its time */
}

/* ---- A small filter -------------------------------------------------------------------------- */

struct memory {
    char data[PULL_SMALL_BYTES];
    size_t bytes;
};

static int write_memory(void *context, const void *data, size_t bytes)
{
    struct memory *memory = context;
    if (bytes > sizeof memory->data - memory->bytes) return TAMIS_ELIMIT;
    memcpy(memory->data + memory->bytes, data, bytes);
    memory->bytes += bytes;
    return 0;
}

/* Returns false if the copy does not go into a drawer. */
static bool copy_small(const struct copying *copying, tamis_store *store, const char *name,
                       tamis_filter **filter, int *rc)
{
    struct memory memory = {.bytes = 0};
    const struct tamis_sink sink = {.size = sizeof sink, .write = write_memory, .context = &memory};
    struct tamis_segment_stat first = {.size = sizeof first};
    if (copying->durable || tamis_filter_segment(copying->from, 0, &first) < 0 ||
        first.data_bytes > sizeof memory.data ||
        tamis_filter_export(copying->from, "tamis", TAMIS_EXPORT_WITH_KEY, &sink) < 0)
        return false;
    const struct tamis_filled filled = {.name = name,
                                        .stream = memory.data,
                                        .stream_bytes = memory.bytes,
                                        .flags = TAMIS_IMPORT_OWNED};
    return pull_import_small(store, &filled, filter, rc);
}

static int copy_into(struct copying *copying, tamis_store *store, const char *name,
                     tamis_filter **filter)
{
    int rc;
    if (copy_small(copying, store, name, filter, &rc)) return rc;
    return import_from_pipe(copying, store, name, filter);
}

/* ---- In a thread ----------------------------------------------------------------------------- */

/* The value that is copied from is pinned, so its filter stays open. */
static int copy_kept(void *context, tamis_store *store, const char *name, tamis_filter **filter)
{
    const struct value *from = *(struct value **)context;
    struct copying copying = {.from = from->filter, .durable = from->durable};
    durable_wait(from);
    return copy_into(&copying, store, name, filter);
}

static void *keep_value(const void *context)
{
    struct value **copy = RedisModule_Alloc(sizeof *copy);
    *copy = *(struct value *const *)context;
    kept_pin(*copy);
    if (value_counts(*copy)) still_begin(*copy);
    return copy;
}

static const struct value *use_value(const void *kept, size_t i, bool *changes)
{
    *changes = false;
    return i == 0 ? *(struct value *const *)kept : NULL;
}

static void let_value_go(void *kept)
{
    still_end(*(struct value **)kept);
    kept_unpin(*(struct value **)kept);
    handles_trim(); /* more may be open than the setting allows */
}

struct maker copy_maker(struct value **from)
{
    return (struct maker){.make = copy_kept,
                          .context = from,
                          .keep = keep_value,
                          .let_go = let_value_go,
                          .uses = use_value,
                          .holds_still = value_counts(*from)};
}

/* ---- In the main thread ---------------------------------------------------------------------- */

static int copy_now(void *context, tamis_store *store, const char *name, tamis_filter **filter)
{
    return copy_into(context, store, name, filter);
}

/* Copies a filter that is not in the store. */
static int copy_memory(struct value *to, const struct value *from)
{
    if (is_exact_cuckoo(from)) return exact_copy(to, from);
    to->valkey = valkey_copy(from->valkey);
    return to->valkey != NULL ? 0 : TAMIS_ENOMEM;
}

/* Makes the copy of a small filter a draft, which has the bits as they are now. */
static bool copy_as_content(const struct value *from, struct value *to, int db, const char *key,
                            size_t key_bytes)
{
    char name[NAME_ROOM];
    struct draft_stream stream = {.data = NULL};
    if (from->draft != NULL) return false;
    handles_name(from, name); /* a thread may be about to rename it */
    stream.data = light_stream(name, from->created_at, &stream.bytes);
    if (stream.data != NULL &&
        tamis_stream_fits("tamis", stream.data, stream.bytes) != TAMIS_STREAM_IN_DRAWER) {
        RedisModule_Free(stream.data);
        return false;
    }
    return make_content_draft(to, db, key, key_bytes, &stream, 0, false);
}

/* Makes the filter of `to`, which has that key, from another one, which stays open meanwhile. */
static int copy_filter(struct value *from, struct value *to, int db, const char *key,
                       size_t key_bytes)
{
    if (draft_can_be_copied(from) && make_as_draft(to, db, key, key_bytes, from)) return 0;
    if (from->draft == NULL) making_settle(from, false);
    if (copy_as_content(from, to, db, key, key_bytes)) return 0;
    int rc = value_open(from);
    if (rc < 0) return rc;
    struct copying copying = {.from = from->filter, .durable = from->durable};
    making_settle(from, false);
    durable_wait(from);
    handles_hold();
    const struct maker maker = {.make = copy_now, .context = &copying};
    rc = make_filter(to, db, key, key_bytes, &maker);
    handles_let_go();
    return rc;
}

void *copy_value(RedisModuleKeyOptCtx *ctx, const void *value)
{
    struct value *from = (struct value *)(uintptr_t)value;
    struct value *to = value_new(from->type);
    size_t key_bytes;
    const char *key = RedisModule_StringPtrLen(RedisModule_GetToKeyNameFromOptCtx(ctx), &key_bytes);
    to->as_valkey = from->as_valkey;
    const int rc = value_is_stored(from)
                       ? copy_filter(from, to, RedisModule_GetToDbIdFromOptCtx(ctx), key, key_bytes)
                       : copy_memory(to, from);
    if (rc < 0) {
        RedisModule_Log(NULL, "warning", "COPY to the key '%.*s': %s", (int)key_bytes, key,
                        value_is_stored(from) ? tamis_last_error() : "there is no memory");
        value_free(to);
        return NULL;
    }
    to->expansion = from->expansion;
    to->cuckoo = from->cuckoo;
    return to;
}
