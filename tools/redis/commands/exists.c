/* SPDX-License-Identifier: BSD-2-Clause */
/* exists.c: BF.EXISTS, BF.MEXISTS, CF.EXISTS and CF.MEXISTS. */
#include "commands/command.h"
#include "server/config.h"

/* RedisBloom answers 0 for a key of another type, and valkey-bloom, which has no CF.*, an error. */
static bool is_refused(enum held held, enum type type)
{
    return held == HELD_CLOSED ||
           (held == HELD_OTHER && type == TYPE_BLOOM && config.like == LIKE_VALKEY);
}

static int ask(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, enum type type, bool single)
{
    struct value *value;
    int64_t rc = 0;
    if (single ? argc != 3 : argc < 3) return RedisModule_WrongArity(ctx);
    const struct items *items = items_of(argv + 2, argc - 2);
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], REDISMODULE_READ);
    const enum held held = key_held(key, type, &value);
    if (held == HELD_VALUE) rc = ask_items(value, items);
    RedisModule_CloseKey(key);
    if (is_refused(held, type)) return RedisModule_ReplyWithError(ctx, held_error(held));
    if (rc < 0) return reply_failure(ctx, "the filter cannot be asked");
    counts.asked += items->count;
    if (!single) (void)RedisModule_ReplyWithArray(ctx, (long)items->count);
    for (size_t i = 0; i < items->count; i++) {
        const int there = held == HELD_VALUE ? items->answers[i] : 0;
        (void)(type == TYPE_BLOOM ? reply_yes_no(ctx, there)
                                  : RedisModule_ReplyWithBool(ctx, there));
    }
    return REDISMODULE_OK;
}

int bf_exists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return ask(ctx, argv, argc, TYPE_BLOOM, true);
}

int cf_exists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return ask(ctx, argv, argc, TYPE_CUCKOO, true);
}

int bf_mexists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return ask(ctx, argv, argc, TYPE_BLOOM, false);
}

int cf_mexists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return ask(ctx, argv, argc, TYPE_CUCKOO, false);
}
