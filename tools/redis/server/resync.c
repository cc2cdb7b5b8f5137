/* SPDX-License-Identifier: BSD-2-Clause */
/* resync.c: see resync.h. */
#include "server/resync.h"

#include <string.h>

#include "server/config.h"
#include "server/waiting.h"

static bool is_wanted;

void resync_want(void)
{
    is_wanted = true;
}

static bool is_replica(RedisModuleCtx *ctx)
{
    return (RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_SLAVE) != 0;
}

static void replica_of(RedisModuleCtx *ctx, const char *host, const char *port)
{
    RedisModuleCallReply *reply = RedisModule_Call(ctx, "REPLICAOF", "cc", host, port);
    if (reply != NULL) RedisModule_FreeCallReply(reply);
}

/* Does the server still go over from one master to another?  It refuses REPLICAOF then. */
static bool fails_over(RedisModuleCtx *ctx)
{
    char state[FIELD_ROOM];
    return server_field(ctx, "replication", "master_failover_state", state) &&
           strcmp(state, "no-failover") != 0;
}

/* A server that has been a master for a moment has a history of its own, so its next sync is a full
 * one.  A node of a cluster refuses REPLICAOF. */
void resync_try(RedisModuleCtx *ctx)
{
    char host[FIELD_ROOM], port[FIELD_ROOM];
    if (!is_wanted || waiting_is_paused() || fails_over(ctx)) return;
    is_wanted = false;
    if (!is_replica(ctx)) return;
    const bool known = server_field(ctx, "replication", "master_host", host) &&
                       server_field(ctx, "replication", "master_port", port);
    if (known) replica_of(ctx, "NO", "ONE");
    const bool left = !is_replica(ctx);
    if (left) replica_of(ctx, host, port);
    if (left && is_replica(ctx))
        RedisModule_Log(ctx, "notice", "a full sync is asked for, as filters may differ");
    else
        RedisModule_Log(ctx, "warning",
                        "no full sync can be asked for: DUMP the filters that differ at the "
                        "master, and RESTORE them there with REPLACE");
}
