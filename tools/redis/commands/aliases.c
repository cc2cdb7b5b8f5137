/* SPDX-License-Identifier: BSD-2-Clause */
/* aliases.c: CONFIG GET and CONFIG SET with the names that valkey-bloom and RedisBloom give to
 * settings.  A module cannot register settings under the name of another (Redis 8 lets it:
 * server/settings.c), so they are turned into ours before the server sees them.  (In redis.conf
 * the server itself reads the names.) */
#include "commands/command.h"
#include "server/settings.h"

void aliases_turn(RedisModuleCommandFilterCtx *filter, int argc)
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
