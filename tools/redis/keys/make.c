/* SPDX-License-Identifier: BSD-2-Clause */
/* make.c: see make.h. */
#include "keys/make.h"

#include "home/bind.h"
#include "home/labels.h"
#include "keys/keys.h"
#include "server/args.h"
#include "tamis_exchange.h"
#include "value/drops.h"
#include "value/head.h"
#include "value/store.h"

static int make(struct making *making)
{
    char name[TAMIS_ID_NAME_BYTES];
    tamis_id_name(making->id.bytes, name);
    return making->make(making, store_is_open(), name);
}

static int work(struct task *task)
{
    return make((struct making *)(void *)task);
}

static void forget_making(struct making *making)
{
    if (making->forget != NULL) making->forget(making->context);
    RedisModule_Free(making->context);
    RedisModule_Free(making);
}

static void forget(struct task *task)
{
    struct making *making = (struct making *)(void *)task;
    if (making->filter != NULL) { /* nobody has it */
        tamis_filter_release(making->filter);
        drops_push(&making->id, NO_DUMP);
    }
    store_unclaim(&making->id);
    forget_making(making);
}

struct making *making_new(int (*function)(struct making *, tamis_store *, const char *),
                          void *context, void (*forget_context)(void *context))
{
    struct making *making = RedisModule_Calloc(1, sizeof *making);
    making->task.work = work;
    making->task.forget = forget;
    making->make = function;
    making->context = context;
    making->forget = forget_context;
    making->id = id_draw();
    return making;
}

struct making *making_of(RedisModuleCtx *ctx)
{
    return (struct making *)(void *)task_of(ctx);
}

/* Does the AOF say which filter of the store it was? */
static bool take_bound(RedisModuleCtx *ctx, RedisModuleString *key, struct making *making)
{
    size_t bytes;
    const char *name = RedisModule_StringPtrLen(key, &bytes);
    if (!bind_take(RedisModule_GetSelectedDb(ctx), name, bytes, &making->id)) return false;
    drops_take_back(&making->id);
    return !stored_has(&making->id) &&
           tamis_filter_open_id(store_is_open(), making->id.bytes, 0, &making->filter) == 0;
}

struct making *making_begin(RedisModuleCtx *ctx, RedisModuleReplyFunc *again,
                            RedisModuleString *key, struct making *making)
{
    const char *error = NULL;
    if (store_open() == NULL)
        error = tamis_last_error();
    else if (store_is_of_another())
        error = "another server owns the store; this one has tamis.attach-only and makes nothing";
    if (error != NULL) {
        (void)reply_sentence(ctx, "could not create filter", error);
        forget_making(making);
        return NULL;
    }
    if (take_bound(ctx, key, making)) {
        making->task.taken = true; /* it was found */
        return making;
    }
    store_claim(&making->id);
    if (making->may_be_late && !args_can_wait(ctx)) return making;
    return task_begin(ctx, again, &making->task) ? NULL : making;
}

/* The value gets the filter, made or not. */
static void give(struct making *making, struct value *value, int db, const char *key,
                 size_t key_bytes)
{
    struct stored *stored = stored_new(value, &making->id, making->filter);
    if (making->filter == NULL) making->late = stored;
    making->filter = NULL;
    store_unclaim(&making->id);
    stored->found = making->task.taken;
    if (making->late == NULL) (void)stored_describe(stored);
    labels_want(stored, db, key, key_bytes);
}

/* ---- Late ------------------------------------------------------------------------------------ */

static void run_late(struct job *job)
{
    for (struct job *next; job != NULL; job = next) {
        struct making *making = (struct making *)(void *)job;
        next = job->next;
        char name[TAMIS_ID_NAME_BYTES];
        const int rc = make(making);
        tamis_id_name(making->id.bytes, name);
        if (rc < 0)
            RedisModule_Log(NULL, "warning", "a key has lost its filter, %s: %s", name,
                            tamis_last_error());
        /* ORDER relaxed: who reads it has waited for the line. */
        __atomic_store_n(&making->late->is_lost, rc < 0, __ATOMIC_RELAXED);
        if (rc == 0) tamis_filter_release(making->filter);
        forget_making(making);
    }
}

static void submit_late(struct making *making)
{
    making->task.job =
        (struct job){.run = run_late, .bytes = making->task.job.bytes, .before_fork = true};
    work_submit(&making->late->line, &making->task.job);
}

int make_late(struct value *value, int db, const char *key, size_t key_bytes, struct making *making)
{
    if (store_open() == NULL || store_is_of_another()) {
        forget_making(making);
        return TAMIS_ENOSTORE;
    }
    give(making, value, db, key, key_bytes);
    submit_late(making);
    return 0;
}

/* ---- Streams --------------------------------------------------------------------------------- */

int stream_append(void *context, const void *data, size_t bytes)
{
    struct stream *s = context;
    if (s->bytes + bytes > s->room) {
        s->room = 2 * (s->bytes + bytes);
        s->data = RedisModule_Realloc(s->data, s->room);
    }
    memcpy(s->data + s->bytes, data, bytes);
    s->bytes += bytes;
    return 0;
}

static int import_stream(struct making *making, tamis_store *store, const char *name)
{
    const struct stream *stream = making->context;
    if (stream->is_head)
        return store_import_head(name, stream->exact, stream->durable,
                                 (const unsigned char *)stream->data, stream->bytes,
                                 &making->filter);
    struct memory_source memory = {.at = (const unsigned char *)stream->data,
                                   .left = stream->bytes};
    const struct tamis_source source = {
        .size = sizeof source, .read = memory_read, .context = &memory, .bytes = memory.left};
    const struct tamis_import_spec spec = {.size = sizeof spec,
                                           .flags = TAMIS_IMPORT_OWNED |
                                                    (stream->durable ? TAMIS_IMPORT_DURABLE : 0)};
    return tamis_filter_import(store, name, "tamis", &spec, &source, &making->filter);
}

static void forget_stream(void *stream)
{
    RedisModule_Free(((struct stream *)stream)->data);
}

struct making *making_of_stream(const struct stream *stream)
{
    struct stream *kept = RedisModule_Alloc(sizeof *kept);
    *kept = *stream;
    struct making *making = making_new(import_stream, kept, forget_stream);
    making->task.job.bytes = stream->bytes;
    return making;
}

void making_end(RedisModuleCtx *ctx, struct making *making)
{
    task_end(ctx, &making->task);
}

/* ---- Taking ---------------------------------------------------------------------------------- */

struct value *making_take(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
                          struct making *making, const char *failure)
{
    size_t bytes;
    const char *text = RedisModule_StringPtrLen(name, &bytes);
    if (making == NULL) return NULL;
    if (making->task.rc < 0) {
        (void)task_reply_failure(ctx, &making->task, failure);
        making_end(ctx, making);
        return NULL;
    }
    struct value *value = value_new(TYPE_BLOOM);
    value->expansion = 2;
    give(making, value, RedisModule_GetSelectedDb(ctx), text, bytes);
    bind_tell(ctx, text, bytes, value);
    key_set(ctx, key, name, value);
    if (making->late != NULL)
        submit_late(making);
    else
        making_end(ctx, making);
    return value;
}
