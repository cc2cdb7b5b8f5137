/* SPDX-License-Identifier: BSD-2-Clause */
/* exists.c: BF.EXISTS, BF.MEXISTS, CF.EXISTS and CF.MEXISTS. */
#include "commands/command.h"
#include "value/exact.h"

static int exists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, enum type type)
{
    struct value *value;
    size_t bytes;
    int rc = 0;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    const char *item = RedisModule_StringPtrLen(argv[2], &bytes);
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], REDISMODULE_READ);
    if (key_held(key, type, &value) == HELD_VALUE)
        rc = is_exact_cuckoo(value) ? exact_contains(value, item, bytes)
                                    : tamis_filter_contains(value->filter, item, bytes);
    RedisModule_CloseKey(key);
    counts.asked++;
    return rc < 0 ? reply_failure(ctx, "the filter cannot be asked")
                  : RedisModule_ReplyWithBool(ctx, rc);
}

static int64_t ask_all(const struct value *value, const struct items *items)
{
    if (!is_exact_cuckoo(value))
        return tamis_filter_contains_batch(value->filter, items->keys, items->count,
                                           items->answers);
    for (size_t i = 0; i < items->count; i++)
        items->answers[i] = exact_contains(value, items->keys[i].data, items->keys[i].bytes);
    return 0;
}

static int mexists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, enum type type)
{
    struct value *value;
    int64_t rc = 0;
    if (argc < 3) return RedisModule_WrongArity(ctx);
    const struct items *items = items_of(argv + 2, argc - 2);
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], REDISMODULE_READ);
    const bool there = key_held(key, type, &value) == HELD_VALUE;
    if (there) rc = ask_all(value, items);
    RedisModule_CloseKey(key);
    if (rc < 0) return reply_failure(ctx, "the filter cannot be asked");
    counts.asked += items->count;
    (void)RedisModule_ReplyWithArray(ctx, (long)items->count);
    for (size_t i = 0; i < items->count; i++)
        (void)RedisModule_ReplyWithBool(ctx, there ? items->answers[i] : 0);
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
