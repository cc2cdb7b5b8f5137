/* SPDX-License-Identifier: BSD-2-Clause */
/* flush.c: see flush.h. */
#include "module/flush.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "registry/registry.h"
#include "server/config.h"
#include "server/thread.h"

#define SETTING "lazyfree-lazy-user-flush"
/* To free fewer takes less than a millisecond. */
#define MANY 1000
/* To free the blocks and cached pages of a smaller dump takes less than a millisecond (11 ms were
 * seen for one of 43 MB). */
#define LARGE_DUMP ((off_t)1 << 20)

static int old_dump = -1; /* see flush_begins() */

/* ---- The setting ----------------------------------------------------------------------------- */

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

/* ---- The old dump ---------------------------------------------------------------------------- */

void flush_begins(RedisModuleCtx *ctx)
{
    char name[256];
    struct stat stat;
    if (old_dump >= 0 || config_of_server(ctx, "dbfilename", name, sizeof name) == 0) return;
    /* O_NONBLOCK: it may be anything, and nobody waits for what it is. */
    const int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return;
    if (fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode) && stat.st_size >= LARGE_DUMP)
        old_dump = fd;
    else
        (void)close(fd);
}

static void *close_dump(void *fd)
{
    (void)close((int)(intptr_t)fd);
    return NULL;
}

void flush_tidy(void)
{
    void *fd = (void *)(intptr_t)old_dump;
    if (old_dump < 0) return;
    old_dump = -1;
    if (!thread_start(close_dump, fd)) (void)close_dump(fd);
}
