/* SPDX-License-Identifier: BSD-2-Clause */
/* flush.c: see flush.h. */
#include "module/flush.h"

#include <string.h>

#include "registry/registry.h"
#include "server/config.h"

#define SETTING "lazyfree-lazy-user-flush"
/* To free fewer takes less than a millisecond. */
#define MANY 1000

void flush_watch(RedisModuleCtx *ctx)
{
    static bool done;
    char now[8];
    uint64_t attached;
    if (done || config.flush == FLUSH_SERVER || registry_count(&attached) < MANY) return;
    done = true;
    if (config_of_server(ctx, SETTING, now, sizeof now) > 0 && strcmp(now, "yes") == 0) return;
    RedisModuleCallReply *reply = RedisModule_Call(ctx, "CONFIG", "ccc", "SET", SETTING, "yes");
    const bool set = reply != NULL && RedisModule_CallReplyType(reply) != REDISMODULE_REPLY_ERROR;
    if (reply != NULL) RedisModule_FreeCallReply(reply);
    RedisModule_Log(ctx, set ? "notice" : "warning",
                    set ? "there are many filters, so " SETTING " is yes now: FLUSHALL and FLUSHDB "
                          "are ASYNC unless they say SYNC (tamis.flush)"
                        : "there are many filters, and " SETTING " cannot be set to yes: a "
                          "FLUSHALL without ASYNC keeps all clients waiting");
}
