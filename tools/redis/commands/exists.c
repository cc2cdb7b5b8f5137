/* SPDX-License-Identifier: BSD-2-Clause */
/* exists.c: BF.EXISTS, BF.MEXISTS, CF.EXISTS and CF.MEXISTS. */
#include "commands/command.h"
#include "server/config.h"
#include "value/exact.h"
#include "value/guest.h"
#include "value/memory.h"

static int ask_one(const struct value *value, const char *item, size_t bytes)
{
    switch (value->home) {
    case HOME_MEMORY:
        return memory_contains(value->memory, item, bytes);
    case HOME_CUCKOO:
        return exact_contains(value->cuckoo, item, bytes);
    case HOME_VALKEY:
        return guest->contains(value->valkey, item, bytes);
    default:
        return tamis_filter_contains(value->stored->filter, item, bytes);
    }
}

/* RedisBloom answers 0 for a key of another type, and valkey-bloom, which has no CF.*, an error. */
static bool is_refused(enum held held, enum type type)
{
    return held == HELD_CLOSED ||
           (held == HELD_OTHER && type == TYPE_BLOOM && config.like == LIKE_VALKEY);
}

static int reply(RedisModuleCtx *ctx, enum type type, int there)
{
    return type == TYPE_BLOOM ? reply_yes_no(ctx, there) : RedisModule_ReplyWithBool(ctx, there);
}

static int exists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, enum type type)
{
    struct value *value;
    size_t bytes;
    int rc = 0;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    const char *item = RedisModule_StringPtrLen(argv[2], &bytes);
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], REDISMODULE_READ);
    const enum held held = key_held(key, type, &value);
    if (held == HELD_VALUE) rc = ask_one(value, item, bytes);
    RedisModule_CloseKey(key);
    if (is_refused(held, type)) return RedisModule_ReplyWithError(ctx, held_error(held));
    counts.asked++;
    return rc < 0 ? reply_failure(ctx, "the filter cannot be asked") : reply(ctx, type, rc);
}

static int64_t ask_all(const struct value *value, const struct items *items)
{
    if (value_is_stored(value))
        return tamis_filter_contains_batch(value->stored->filter, items->keys, items->count,
                                           items->answers);
    if (value->home == HOME_MEMORY) {
        memory_contains_batch(value->memory, items->keys, items->count, items->answers);
        return 0;
    }
    for (size_t i = 0; i < items->count; i++)
        items->answers[i] = (uint8_t)ask_one(value, items->keys[i].data, items->keys[i].bytes);
    return 0;
}

static int mexists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, enum type type)
{
    struct value *value;
    int64_t rc = 0;
    if (argc < 3) return RedisModule_WrongArity(ctx);
    const struct items *items = items_of(argv + 2, argc - 2);
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], REDISMODULE_READ);
    const enum held held = key_held(key, type, &value);
    const bool there = held == HELD_VALUE;
    if (there) rc = ask_all(value, items);
    RedisModule_CloseKey(key);
    if (is_refused(held, type)) return RedisModule_ReplyWithError(ctx, held_error(held));
    if (rc < 0) return reply_failure(ctx, "the filter cannot be asked");
    counts.asked += items->count;
    (void)RedisModule_ReplyWithArray(ctx, (long)items->count);
    for (size_t i = 0; i < items->count; i++)
        (void)reply(ctx, type, there ? items->answers[i] : 0);
    return REDISMODULE_OK;
}

int bf_exists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return exists(ctx, argv, argc, TYPE_BLOOM);
}

int cf_exists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return exists(ctx, argv, argc, TYPE_CUCKOO);
}

int bf_mexists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return mexists(ctx, argv, argc, TYPE_BLOOM);
}

int cf_mexists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return mexists(ctx, argv, argc, TYPE_CUCKOO);
}
