/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unblock.h: blocked clients whose commands may replicate go on when that is allowed.
 *
 * A server whose writes are paused (CLIENT PAUSE, FAILOVER, a SHUTDOWN that waits for its replicas)
 * aborts if something is replicated, and runs the commands of clients that a module unblocks all
 * the same.  So such clients are unblocked at the end of a turn of the event loop, directly before
 * the server runs their commands, and while it is paused they stay blocked.
 */
#pragma once

#include "server/redis_api.h"

/* As RedisModule_UnblockClient().  Any thread. */
void unblock(RedisModuleBlockedClient *client, void *data);

/* The main thread calls unblock_go_on() before it sleeps, from now on.  Without that, clients are
 * unblocked at once. */
void unblock_allow(void);
void unblock_go_on(void);
