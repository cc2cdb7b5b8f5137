/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * resync.h: a full sync that a replica asks its master for.
 *
 * A thread may still change a filter for a server that is a master no more.  Nobody can tell the
 * new master of that, and a partial sync would leave the two with different filters.
 */
#pragma once

#include "server/redis_api.h"

/* A full sync is wanted.  Main thread. */
void resync_want(void);
/* Asks for it, once that is allowed.  In a turn of the event loop. */
void resync_try(RedisModuleCtx *ctx);
