/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * zeros.c: a module for redis-server that is the limit of bench_redis.py: commands of the shapes of
 * BF.*, which look at no key and answer zeros.  What they take is the server's own time: reading,
 * parsing, making strings, answering.
 *
 *     ZEROS.ADD key item            0
 *     ZEROS.MADD key item [item ...] a zero for each item
 */
#include "server/redis_api.h"

__attribute__((visibility("default"))) int RedisModule_OnLoad(RedisModuleCtx *ctx,
                                                              RedisModuleString **argv, int argc);

static int add(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    (void)argv;
    (void)argc;
    return RedisModule_ReplyWithLongLong(ctx, 0);
}

static int madd(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    (void)argv;
    (void)RedisModule_ReplyWithArray(ctx, argc - 2);
    for (int i = 2; i < argc; i++)
        (void)RedisModule_ReplyWithLongLong(ctx, 0);
    return REDISMODULE_OK;
}

int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    (void)argv;
    (void)argc;
    if (redis_api_resolve(ctx) != NULL) return REDISMODULE_ERR;
    RedisModule_SetModuleAttribs(ctx, "zeros", 1, REDISMODULE_APIVER_1);
    if (RedisModule_CreateCommand(ctx, "zeros.add", add, "write", 1, 1, 1) != REDISMODULE_OK)
        return REDISMODULE_ERR;
    return RedisModule_CreateCommand(ctx, "zeros.madd", madd, "write", 1, 1, 1);
}
