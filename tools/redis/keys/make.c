/* SPDX-License-Identifier: BSD-2-Clause */
/* make.c: see make.h. */
#include "keys/make.h"

#include "home/bind.h"
#include "home/labels.h"
#include "keys/keys.h"
#include "server/args.h"
#include "value/drops.h"
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

static void forget(RedisModuleCtx *ctx, struct task *task)
{
    struct making *making = (struct making *)(void *)task;
    (void)ctx;
    if (making->filter != NULL) { /* nobody has it */
        tamis_filter_release(making->filter);
        drops_push(&making->id, NO_DUMP);
    }
    store_unclaim(&making->id);
    if (making->forget != NULL) making->forget(making);
    RedisModule_Free(making);
}

struct making *making_new(int (*function)(struct making *, tamis_store *, const char *),
                          void *context, void (*forget_context)(struct making *))
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
        if (making->forget != NULL) making->forget(making);
        RedisModule_Free(making);
        return NULL;
    }
    if (take_bound(ctx, key, making)) {
        making->task.taken = true; /* it was found */
        return making;
    }
    store_claim(&making->id);
    return task_begin(ctx, again, &making->task) ? NULL : making;
}

static struct value *value_of(struct making *making, int db, const char *key, size_t key_bytes)
{
    struct value *value = value_new(TYPE_BLOOM);
    struct stored *stored = stored_new(value, &making->id, making->filter);
    making->filter = NULL;
    store_unclaim(&making->id);
    stored->found = making->task.taken;
    value->expansion = 2;
    (void)stored_describe(stored);
    labels_want(stored, db, key, key_bytes);
    return value;
}

struct value *making_take(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
                          struct making *making, const char *failure)
{
    size_t bytes;
    const char *text = RedisModule_StringPtrLen(name, &bytes);
    if (making->task.rc < 0) {
        (void)task_reply_failure(ctx, &making->task, failure);
        return NULL;
    }
    struct value *value = value_of(making, RedisModule_GetSelectedDb(ctx), text, bytes);
    bind_tell(ctx, text, bytes, value);
    key_set(ctx, key, name, value);
    return value;
}

void making_end(RedisModuleCtx *ctx, struct making *making)
{
    task_end(ctx, &making->task);
}

int make_now(struct value *value, int db, const char *key, size_t key_bytes, struct making *making)
{
    if (store_open() == NULL || store_is_of_another()) return TAMIS_ENOSTORE;
    const int rc = make(making);
    if (rc == 0) {
        struct stored *stored = stored_new(value, &making->id, making->filter);
        making->filter = NULL;
        (void)stored_describe(stored);
        labels_want(stored, db, key, key_bytes);
    }
    forget(NULL, &making->task);
    return rc;
}
