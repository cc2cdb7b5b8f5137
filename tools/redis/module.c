/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * module.c: the module `tamis` for redis-server: filters of a Tamis store as values of keys
 * (docs/redis.md).
 *
 *     redis_api    the server's functions            command      registration, what commands share
 *     config       load arguments, CONFIG            bf_*         BF.*
 *     names        key <-> filter                    shape        what a filter is made from
 *     keeper       the store, the values             pieces       its data in pieces
 *     leftovers    what the store had before         rdb, aof     dumps
 *     value        the data types                    events       what happens in the server
 *     tamis_*      TAMIS.*, INFO tamis               cf_*         CF.*
 *     bits         SETBIT and the like on filters
 *     freeze       counters for a child that saves   durable      adds that wait for the disk
 *     busy         how long a local process may hold the server up
 *     cf_exact, rdb_cuckoo   RedisBloom's cuckoo filter
 *     tables       COMMAND DOCS of all of them      exists       BF.EXISTS, CF.EXISTS, and of many
 */
#include "command.h"
#include "config.h"

#define NAME "tamis"

__attribute__((visibility("default"))) int RedisModule_OnLoad(RedisModuleCtx *ctx,
                                                              RedisModuleString **argv, int argc);

/* Says once what the store is, or why it cannot be opened; commands try again. */
static void tell_store(RedisModuleCtx *ctx)
{
    if (keeper_store() != NULL)
        RedisModule_Log(ctx, "notice", "Tamis %s: the store is %s", tamis_version(), config.store);
    else
        RedisModule_Log(ctx, "warning", "the store cannot be opened: %s", tamis_last_error());
}

int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    const char *missing = redis_api_resolve(ctx);
    if (missing != NULL) return REDISMODULE_ERR; /* an older server than 7.0; it says no more */
    if (RedisModule_IsModuleNameBusy(NAME)) {
        RedisModule_Log(ctx, "warning", "the module " NAME " is loaded already");
        return REDISMODULE_ERR;
    }
    RedisModule_SetModuleAttribs(
        ctx, NAME, TAMIS_VERSION_MAJOR * 10000 + TAMIS_VERSION_MINOR * 100 + TAMIS_VERSION_PATCH,
        REDISMODULE_APIVER_1);
    categories_register(ctx);
    if (config_load(ctx, argv, argc) != REDISMODULE_OK || value_register(ctx) != REDISMODULE_OK ||
        commands_register(ctx) != REDISMODULE_OK || bits_register(ctx) != REDISMODULE_OK ||
        tamis_info_register(ctx) != REDISMODULE_OK || events_subscribe(ctx) != REDISMODULE_OK)
        return REDISMODULE_ERR;
    tell_store(ctx);
    return REDISMODULE_OK;
}
