/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * resync.h: a full sync of a replica that has what its master lacks.
 *
 * No function of a module says that the next sync is to be a full one, and when a module is told
 * that the server is a replica now, what a partial sync needs is kept already.  But a server that
 * becomes a master for a moment (REPLICAOF NO ONE, and then REPLICAOF as before) has a history of
 * its own, which the master does not know.  No client has its turn between the two.
 */
#pragma once

#include <stdbool.h>

#include "server/redis_api.h"

bool server_is_replica(void);
/* Asks for a full sync as soon as that can be had. */
void resync_want(void);
/* Called now and then, not by a command. */
void resync_try(RedisModuleCtx *ctx);
