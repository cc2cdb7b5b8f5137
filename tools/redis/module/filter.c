/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter.c: commands that are turned into others before the server sees them.
 *
 * CONFIG GET and CONFIG SET with the names that valkey-bloom and RedisBloom give to settings: a
 * module cannot register settings under the name of another (Redis 8 lets it: server/settings.c),
 * so these become ours.  In redis.conf the server itself reads the names.  And SETBIT and its like
 * (bits/bits.c).
 */
#include "bits/bits.h"
#include "module/register.h"
#include "server/args.h"
#include "server/settings.h"

static void turn_names(RedisModuleCommandFilterCtx *filter, int argc)
{
    if (!arg_is(RedisModule_CommandFilterArgGet(filter, 0), "config")) return;
    const RedisModuleString *verb = RedisModule_CommandFilterArgGet(filter, 1);
    const bool set = arg_is(verb, "set");
    if (!set && !arg_is(verb, "get")) return;
    for (int i = 2; i < argc; i += set ? 2 : 1) {
        const char *own = settings_alias(
            RedisModule_StringPtrLen(RedisModule_CommandFilterArgGet(filter, i), NULL));
        if (own != NULL)
            (void)RedisModule_CommandFilterArgReplace(
                filter, i,
                RedisModule_CreateStringPrintf(NULL, "%s.%s", settings_module_name(), own));
    }
}

/* Called before each command of the server, so most are told by their first letters. */
static void turn_command(RedisModuleCommandFilterCtx *filter)
{
    const int argc = RedisModule_CommandFilterArgsCount(filter);
    size_t bytes;
    const char *name = RedisModule_StringPtrLen(RedisModule_CommandFilterArgGet(filter, 0), &bytes);
    if (argc < 2 || (bytes > 2 && name[2] == '.')) return;
    if ((*name | 0x20) == 'c') turn_names(filter, argc);
#ifdef TAMIS_MODULE_BITS
    else
        bits_turn(filter, argc);
#endif
}

int filter_register(RedisModuleCtx *ctx)
{
    return RedisModule_RegisterCommandFilter(ctx, turn_command, REDISMODULE_CMDFILTER_NOSELF) !=
                   NULL
               ? REDISMODULE_OK
               : REDISMODULE_ERR;
}
