/* SPDX-License-Identifier: BSD-2-Clause */
/* tamis_except.c: TAMIS.EXCEPT and TAMIS.EXCEPTIONS: keys that answer absent whatever the bits say.
 */
#include <string.h>

#include "commands/command.h"
#include "kept/kept.h"
#include "kept/naming.h"
#include "kept/store.h"
#include "tamis_build.h"
#include "value/handles.h"

/* What is to be changed, and in a copy that a thread has, what came of it. */
struct excepting {
    struct value *value;
    struct tamis_key *keys;
    uint8_t *answers;
    size_t count;
    bool adds;
    int64_t changed;
};

/* In any thread. */
static int64_t change_exceptions(struct excepting *e)
{
    /* Another filter may have the name, if a local process has dropped this one. */
    struct tamis_filter_stat stat = {.size = sizeof stat};
    char name[NAME_ROOM];
    naming_wait(e->value);
    const int rc = tamis_filter_stat(e->value->filter, &stat);
    if (rc < 0) return rc;
    handles_name(e->value, name);
    return e->adds ? tamis_filter_except(store_open(), name, e->keys, e->count)
                   : tamis_filter_unexcept(store_open(), name, e->keys, e->count, e->answers);
}

static int change_kept(void *context, tamis_store *store, const char *name, tamis_filter **filter)
{
    struct excepting *e = context;
    (void)store;
    (void)name;
    (void)filter;
    e->changed = change_exceptions(e);
    return e->changed < 0 ? (int)e->changed : 0;
}

/* The copy has the keys, their bytes and room for the answers behind it, and pins the value. */
static void *keep_excepting(const void *context)
{
    const struct excepting *from = context;
    size_t bytes = sizeof *from + from->count * (sizeof from->keys[0] + 1);
    for (size_t i = 0; i < from->count; i++)
        bytes += from->keys[i].bytes;
    struct excepting *copy = RedisModule_Alloc(bytes);
    *copy = *from;
    copy->keys = (struct tamis_key *)(copy + 1);
    copy->answers = (uint8_t *)(copy->keys + from->count);
    char *at = (char *)copy->answers + from->count;
    for (size_t i = 0; i < from->count; i++) {
        copy->keys[i] = (struct tamis_key){.data = at, .bytes = from->keys[i].bytes};
        memcpy(at, from->keys[i].data, from->keys[i].bytes);
        at += from->keys[i].bytes;
    }
    kept_pin_named(copy->value);
    return copy;
}

static void let_excepting_go(void *context)
{
    struct excepting *e = context;
    kept_unpin_named(e->value);
    e->value = NULL;
    handles_trim(); /* more may be open than the setting allows */
}

static const struct value *use_excepting(const void *kept, size_t i, bool *changes)
{
    *changes = true;
    return i == 0 ? ((const struct excepting *)kept)->value : NULL;
}

static int follow_excepting(const void *kept, RedisModuleString **argv, int *argc)
{
    const struct value *value = ((const struct excepting *)kept)->value;
    (void)argc;
    if (!replicate_key_has(value)) return FOLLOW_GONE;
    RedisModule_FreeString(NULL, argv[1]);
    argv[1] = RedisModule_CreateString(NULL, value->key, value->key_bytes);
    return value->db;
}

/* ADD tells how many are exceptions now and were not; REMOVE tells it of each. */
static void reply_changed(RedisModuleCtx *ctx, const struct items *items, bool adds,
                          int64_t changed)
{
    if (adds) {
        (void)RedisModule_ReplyWithLongLong(ctx, changed);
        return;
    }
    (void)RedisModule_ReplyWithArray(ctx, (long)items->count);
    for (size_t i = 0; i < items->count; i++)
        (void)RedisModule_ReplyWithBool(ctx, items->answers[i]);
}

static int except(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key;
    if (argc < 4) return RedisModule_WrongArity(ctx);
    const bool adds = arg_is(argv[2], "ADD");
    if (!adds && !arg_is(argv[2], "REMOVE"))
        return RedisModule_ReplyWithError(
            ctx, "ERR give ADD or REMOVE; TAMIS.EXCEPTIONS lists what there is");
    struct value *value = key_open(ctx, argv[1], TYPE_BLOOM, READ_WRITE, &key);
    if (value == NULL) return REDISMODULE_OK;
    struct items *items = items_of(argv + 3, argc - 3);
    struct excepting now = {.value = value,
                            .keys = items->keys,
                            .answers = items->answers,
                            .count = items->count,
                            .adds = adds};
    const struct maker maker = {.make = change_kept,
                                .context = &now,
                                .keep = keep_excepting,
                                .let_go = let_excepting_go,
                                .uses = use_excepting,
                                .follow = follow_excepting};
    const struct excepting *made = making_context();
    int rc = 0;
    const bool changed = made != NULL && made->value != NULL && made->value != value;
    const bool done = !changed && making_is_done(&rc);
    const bool waits = !changed && !done && making_put_off(TYPE_BLOOM, "", &maker);
    RedisModule_CloseKey(key);
    if (waits) return REDISMODULE_OK;
    if (changed)
        return RedisModule_ReplyWithError(
            ctx, "ERR a key got another filter while the command was under way; give it again");
    if (!done) {
        making_settle(value, true);
        now.changed = change_exceptions(&now);
    }
    if (done && made != NULL) {
        now.changed = rc < 0 ? rc : made->changed;
        memcpy(items->answers, made->answers, items->count);
    }
    if (now.changed < 0) return reply_failure(ctx, "the exceptions stay as they were");
    reply_changed(ctx, items, adds, now.changed);
    return making_replicate(ctx);
}

int tamis_except(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return run_behind(ctx, argv, argc, except, tamis_except);
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
    const struct value *value = key_open(ctx, argv[1], TYPE_BLOOM, REDISMODULE_READ, &key);
    if (value == NULL) return REDISMODULE_OK;
    RedisModule_CloseKey(key);
    /* All of them are read before the first is told. */
    if (tamis_filter_each_exception(value->filter, list_exception, &listing) < 0)
        return reply_failure(ctx, "the exceptions cannot be read");
    if (listing.count == 0) return RedisModule_ReplyWithArray(ctx, 0);
    RedisModule_ReplySetArrayLength(ctx, listing.count);
    return REDISMODULE_OK;
}
