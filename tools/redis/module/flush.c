/* SPDX-License-Identifier: BSD-2-Clause */
/* flush.c: see flush.h. */
#include "module/flush.h"

#include <string.h>

#include "registry/registry.h"
#include "server/config.h"

#define SETTING "lazyfree-lazy-user-flush"
/* To free fewer takes less than a millisecond. */
#define MANY 1000

static bool is_set(RedisModuleCtx *ctx)
{
    char now[8];
    return config_of_server(ctx, SETTING, now, sizeof now) > 0 && strcmp(now, "yes") == 0;
}

void flush_watch(RedisModuleCtx *ctx)
{
    static bool done;
    uint64_t attached;
    if (done || config.flush == FLUSH_SERVER || config.rdb == RDB_REFERENCE ||
        registry_count(&attached) < MANY)
        return;
    done = true;
    if (is_set(ctx)) return;
    RedisModuleCallReply *reply = RedisModule_Call(ctx, "CONFIG", "ccc", "SET", SETTING, "yes");
    if (reply != NULL) RedisModule_FreeCallReply(reply);
    if (is_set(ctx))
        RedisModule_Log(ctx, "notice",
                        "there are many filters, so " SETTING " is yes now: FLUSHALL and FLUSHDB "
                        "are ASYNC unless they say SYNC (tamis.flush)");
    else
        RedisModule_Log(ctx, "warning",
                        "there are many filters, and " SETTING " cannot be set to yes: FLUSHALL "
                        "without ASYNC keeps all clients waiting");
}
