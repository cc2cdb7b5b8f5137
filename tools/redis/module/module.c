/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * module.c: the module `tamis` for redis-server: filters of a Tamis store as values of keys
 * (docs/redis.md).
 *
 * The folders are rooms: a file calls and includes what is in the rooms before its own, or in its
 * own (the test `layers` holds that).
 *
 *     server     the server's functions, arguments, CONFIG, names of filters, threads
 *     value      a value and its homes: memory, the store; what threads do for it
 *     home       how a value comes to the store, is bound to it, and gets its label there
 *     keys       the keys that commands find and make
 *     persist    dumps, the AOF, COPY: the data types
 *     commands   a file for each family of commands
 *     valkey     filters and commands of valkey-bloom
 *     bits       SETBIT and its like
 *     module     their registration, what happens in the server, and this file
 */
#include "commands/command.h"
#include "module/register.h"
#include "persist/types.h"
#include "server/config.h"
#include "server/settings.h"
#include "valkey/guest_parts.h"
#include "value/guest.h"
#include "value/store.h"

__attribute__((visibility("default"))) int RedisModule_OnLoad(RedisModuleCtx *ctx,
                                                              RedisModuleString **argv, int argc);

/* Opens the store, and tells the log of it, or why it cannot be opened.  Commands try again.
 * Another server's store is none of ours. */
static int open_store(RedisModuleCtx *ctx)
{
    if (store_open() == NULL) {
        RedisModule_Log(ctx, "warning", "the store cannot be opened: %s", tamis_last_error());
        return REDISMODULE_OK;
    }
    if (store_is_of_another() && !config.attach_only) {
        RedisModule_Log(ctx, "warning",
                        "another server owns the store %s; give this one a store of its own "
                        "(tamis.store), or tamis.attach-only yes",
                        config.store);
        return REDISMODULE_ERR;
    }
    RedisModule_Log(ctx, "notice", "Tamis %s: the store is %s", tamis_version(), config.store);
    return REDISMODULE_OK;
}

int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    const char *missing = redis_api_resolve(ctx);
    if (missing != NULL)
        return REDISMODULE_ERR; /* the server is older than 7.0; what it prints must do */
    if (settings_read(ctx, argv, argc) != REDISMODULE_OK) return REDISMODULE_ERR;
    const char *name = settings_module_name();
    if (RedisModule_IsModuleNameBusy(name)) {
        RedisModule_Log(ctx, "warning", "a module %s is loaded already", name);
        return REDISMODULE_ERR;
    }
    RedisModule_SetModuleAttribs(
        ctx, name, TAMIS_VERSION_MAJOR * 10000 + TAMIS_VERSION_MINOR * 100 + TAMIS_VERSION_PATCH,
        REDISMODULE_APIVER_1);
    categories_register(ctx);
#ifdef TAMIS_MODULE_VALKEY
    guest = &valkey_guest;
#endif
    if (settings_load(ctx) != REDISMODULE_OK || types_register(ctx) != REDISMODULE_OK ||
        commands_register(ctx) != REDISMODULE_OK || filter_register(ctx) != REDISMODULE_OK ||
        tamis_info_register(ctx) != REDISMODULE_OK || events_subscribe(ctx) != REDISMODULE_OK)
        return REDISMODULE_ERR;
    return open_store(ctx);
}
