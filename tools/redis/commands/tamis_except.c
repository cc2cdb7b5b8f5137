/* SPDX-License-Identifier: BSD-2-Clause */
/* tamis_except.c: TAMIS.EXCEPT and TAMIS.EXCEPTIONS: keys that answer absent whatever the bits say.
 */
#include "commands/command.h"
#include "kept/naming.h"
#include "kept/store.h"
#include "tamis_build.h"

static int64_t change_exceptions(const struct value *value, const struct items *items, bool adds)
{
    /* Another filter may have the name, if a local process has dropped this one. */
    struct tamis_filter_stat stat = {.size = sizeof stat};
    const int rc = tamis_filter_stat(value->filter, &stat);
    if (rc < 0) return rc;
    naming_wait(value);
    return adds ? tamis_filter_except(store_open(), value->name, items->keys, items->count)
                : tamis_filter_unexcept(store_open(), value->name, items->keys, items->count,
                                        items->answers);
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

int tamis_except(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key;
    if (argc < 4) return RedisModule_WrongArity(ctx);
    const bool adds = arg_is(argv[2], "ADD");
    if (!adds && !arg_is(argv[2], "REMOVE"))
        return RedisModule_ReplyWithError(
            ctx, "ERR give ADD or REMOVE; TAMIS.EXCEPTIONS lists what there is");
    const struct value *value = key_open(ctx, argv[1], TYPE_BLOOM, READ_WRITE, &key);
    if (value == NULL) return REDISMODULE_OK;
    const struct items *items = items_of(argv + 3, argc - 3);
    const int64_t changed = change_exceptions(value, items, adds);
    RedisModule_CloseKey(key);
    if (changed < 0) return reply_failure(ctx, "the exceptions stay as they were");
    reply_changed(ctx, items, adds, changed);
    return RedisModule_ReplicateVerbatim(ctx);
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
