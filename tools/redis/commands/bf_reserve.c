/* SPDX-License-Identifier: BSD-2-Clause */
/* bf_reserve.c: BF.RESERVE, and how a key of BF.* comes to be. */
#include "commands/command.h"
#include "keys/shape.h"
#include "server/config.h"

void bf_default_shape(struct bloom_shape *shape)
{
    *shape = (struct bloom_shape){.rate = config.default_rate,
                                  .capacity = (uint64_t)config.default_capacity,
                                  .growth = (uint32_t)config.expansion,
                                  .non_scaling = config.expansion == 0};
}

struct value *bf_make(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
                      const struct bloom_shape *shape)
{
    size_t bytes;
    const char *text = RedisModule_StringPtrLen(name, &bytes);
    struct value *value = value_new(TYPE_BLOOM);
    const int rc = make_bloom(value, RedisModule_GetSelectedDb(ctx), text, bytes, shape);
    return key_made(ctx, key, name, value, rc, "could not create filter");
}

/* Reads the options behind the capacity.  Replies and returns false if they are wrong. */
static bool take_growth(RedisModuleCtx *ctx, RedisModuleString **argv, int argc,
                        struct bloom_shape *shape)
{
    const int at = arg_find(argv, argc, 4, "EXPANSION");
    const bool non_scaling = arg_find(argv, argc, 4, "NONSCALING") != 0;
    long long growth = config.expansion;
    const char *error = NULL;
    if (at != 0 && at + 1 == argc)
        error = "ERR no expansion";
    else if (at != 0 && RedisModule_StringToLongLong(argv[at + 1], &growth) != REDISMODULE_OK)
        error = "ERR bad expansion";
    else if (at != 0 && growth != 0 && (non_scaling || config.expansion == 0))
        error = "Nonscaling filters cannot expand";
    else if (growth < 0 || growth > EXPANSION_MAX)
        error = "ERR expansion must be in the range [0, 32768]";
    if (error != NULL) {
        (void)RedisModule_ReplyWithError(ctx, error);
        return false;
    }
    shape->growth = (uint32_t)growth;
    shape->non_scaling = non_scaling || growth == 0;
    return true;
}

static bool take_shape(RedisModuleCtx *ctx, RedisModuleString **argv, int argc,
                       struct bloom_shape *shape)
{
    long long capacity;
    const char *error = NULL;
    if (RedisModule_StringToDouble(argv[2], &shape->rate) != REDISMODULE_OK)
        error = "ERR bad error rate";
    else if (!(shape->rate > 0 && shape->rate < 1))
        error = "ERR error rate must be in the range (0.000000, 1.000000)";
    else if (RedisModule_StringToLongLong(argv[3], &capacity) != REDISMODULE_OK)
        error = "ERR bad capacity";
    else if (capacity < 1 || capacity > CAPACITY_MAX)
        error = "ERR capacity must be in the range [1, 1073741824]";
    if (error != NULL) {
        (void)RedisModule_ReplyWithError(ctx, error);
        return false;
    }
    if (shape->rate > RATE_MAX) shape->rate = RATE_MAX;
    shape->capacity = (uint64_t)capacity;
    return take_growth(ctx, argv, argc, shape);
}

int bf_reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct bloom_shape shape;
    struct value *value;
    if (argc < 4 || argc > 7) return RedisModule_WrongArity(ctx);
    if (!take_shape(ctx, argv, argc, &shape)) return REDISMODULE_OK;
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], READ_WRITE);
    const enum held held = key_held(key, TYPE_BLOOM, &value);
    if (held == HELD_OTHER) {
        (void)RedisModule_ReplyWithError(ctx, WRONG_TYPE);
    } else if (held == HELD_VALUE) {
        (void)RedisModule_ReplyWithError(ctx, "ERR item exists");
    } else if (bf_make(ctx, key, argv[1], &shape) != NULL) {
        (void)RedisModule_ReplyWithSimpleString(ctx, "OK");
        (void)RedisModule_ReplicateVerbatim(ctx);
    }
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}
