/* SPDX-License-Identifier: BSD-2-Clause */
/* tamis_except.c: TAMIS.EXCEPT and TAMIS.EXCEPTIONS: keys that answer absent whatever the bits say.
 */
#include <string.h>

#include "commands/command.h"
#include "tamis.h"
#include "value/store.h"

/* What a thread changes, and what came of it. */
struct excepting {
    struct task task; /* first: it is one */
    struct id id;
    struct tamis_key *keys;
    uint8_t *answers;
    size_t count;
    bool adds;
    int64_t changed;
};

static int change_named(void *context, tamis_store *store, const char *name)
{
    struct excepting *e = context;
    e->changed = e->adds ? tamis_filter_except(store, name, e->keys, e->count)
                         : tamis_filter_unexcept(store, name, e->keys, e->count, e->answers);
    return e->changed < 0 ? (int)e->changed : 0;
}

static int change_exceptions(struct task *task)
{
    struct excepting *e = (struct excepting *)(void *)task;
    return store_by_name(&e->id, change_named, e);
}

/* One allocation, with the keys, their bytes and room for the answers behind it. */
static struct excepting *new_excepting(const struct value *value, const struct items *items,
                                       bool adds)
{
    size_t bytes = sizeof(struct excepting) + items->count * (sizeof items->keys[0] + 1);
    for (size_t i = 0; i < items->count; i++)
        bytes += items->keys[i].bytes;
    struct excepting *e = RedisModule_Calloc(1, bytes);
    *e = (struct excepting){.task = {.work = change_exceptions},
                            .id = value->stored->id,
                            .count = items->count,
                            .adds = adds};
    e->keys = (struct tamis_key *)(e + 1);
    e->answers = (uint8_t *)(e->keys + e->count);
    char *at = (char *)e->answers + e->count;
    for (size_t i = 0; i < e->count; i++) {
        e->keys[i] = (struct tamis_key){.data = at, .bytes = items->keys[i].bytes};
        if (items->keys[i].bytes > 0) memcpy(at, items->keys[i].data, items->keys[i].bytes);
        at += items->keys[i].bytes;
    }
    (void)task_pin(&e->task, value->stored);
    return e;
}

/* ADD tells how many are exceptions now and were not; REMOVE tells it of each. */
static void reply_changed(RedisModuleCtx *ctx, const struct excepting *items)
{
    if (items->adds) {
        (void)RedisModule_ReplyWithLongLong(ctx, items->changed);
        return;
    }
    (void)RedisModule_ReplyWithArray(ctx, (long)items->count);
    for (size_t i = 0; i < items->count; i++)
        (void)RedisModule_ReplyWithBool(ctx, items->answers[i]);
}

int tamis_except(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key;
    struct excepting *e = (struct excepting *)(void *)task_of(ctx);
    const bool adds = arg_is(argv[2], "ADD");
    if (!adds && !arg_is(argv[2], "REMOVE"))
        return RedisModule_ReplyWithError(
            ctx, "ERR give ADD or REMOVE; TAMIS.EXCEPTIONS lists what there is");
    const struct value *value = key_open_stored(ctx, argv[1], READ_WRITE, tamis_except, &key);
    if (value == NULL) return REDISMODULE_OK;
    RedisModule_CloseKey(key);
    if (e == NULL) {
        e = new_excepting(value, items_of(argv + 3, argc - 3), adds);
        task_changes(&e->task, value->stored, argv, argc);
        if (task_begin(ctx, tamis_except, &e->task)) return REDISMODULE_OK;
    }
    if (e->task.rc < 0)
        (void)task_reply_failure(ctx, &e->task, "the exceptions stay as they were");
    else if (!id_is(&e->id, &value->stored->id))
        (void)RedisModule_ReplyWithError(ctx, OTHER_FILTER);
    else {
        reply_changed(ctx, e);
        task_tell(ctx, &e->task);
    }
    task_end(ctx, &e->task);
    return REDISMODULE_OK;
}

struct listing {
    RedisModuleCtx *ctx;
    long count;
};

static int list_exception(void *context, const struct tamis_key *key, uint64_t generation)
{
    struct listing *listing = context;
    (void)generation;
    if (listing->count == 0)
        (void)RedisModule_ReplyWithArray(listing->ctx, REDISMODULE_POSTPONED_LEN);
    (void)RedisModule_ReplyWithStringBuffer(listing->ctx, key->bytes > 0 ? key->data : "",
                                            key->bytes);
    listing->count++;
    return 0;
}

int tamis_exceptions(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key;
    struct listing listing = {.ctx = ctx};
    if (argc != 2) return RedisModule_WrongArity(ctx);
    const struct value *value =
        key_open_stored(ctx, argv[1], REDISMODULE_READ, tamis_exceptions, &key);
    if (value == NULL) return REDISMODULE_OK;
    RedisModule_CloseKey(key);
    /* All of them are read before the first is told. */
    if (tamis_filter_each_exception(value->stored->filter, list_exception, &listing) < 0)
        return reply_failure(ctx, "the exceptions cannot be read");
    if (listing.count == 0) return RedisModule_ReplyWithArray(ctx, 0);
    RedisModule_ReplySetArrayLength(ctx, listing.count);
    return REDISMODULE_OK;
}
