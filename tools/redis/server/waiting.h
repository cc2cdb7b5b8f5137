/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waiting.h: clients whose commands are put off: they are blocked, and later the command is run
 * anew, from its beginning.
 *
 * A server whose writes are paused (CLIENT PAUSE, FAILOVER, a SHUTDOWN that waits for its replicas)
 * aborts if something is replicated, and runs the commands of clients that a module unblocks all
 * the same.  So such clients are unblocked at the end of a turn of the event loop, directly before
 * the server runs their commands, and while it is paused they stay blocked.
 *
 * The server has looked whether the key is here, and what the user may, when the command came, and
 * does not look again before it is run anew.  In a cluster the slot may have moved since: what a
 * key got now would be lost.  So that is looked at here, for all of them: if it is not as it was,
 * the client gets an error TRYAGAIN or NOPERM, and the command is not run.
 */
#pragma once

#include <stdbool.h>

#include "server/redis_api.h"

struct waiting;

/* Blocks the client of the command that is run.  `again` is what runs it anew.  `end`, if there is
 * one, is called with `data` by the main thread when that is over, or the client is gone. */
struct waiting *waiting_begin(RedisModuleCtx *ctx, RedisModuleReplyFunc *again, void *data,
                              void (*end)(RedisModuleCtx *ctx, void *data));
/* The command is to be run anew.  Any thread. */
void waiting_end(struct waiting *waiting);
/* Of a command that is run anew: the data; NULL: it has none, or is run the first time. */
void *waiting_data(RedisModuleCtx *ctx);

/* Clients that wait for the same sort of thing, in the order of their commands.  The main thread
 * alone uses a list.  Zeros are an empty one. */
struct waiting_list {
    struct waiting *first, **last;
};
/* Blocks the client of the command, which waits for `what`. */
void waiting_put(struct waiting_list *list, RedisModuleCtx *ctx, RedisModuleReplyFunc *again,
                 const void *what);
/* Runs the commands anew that wait for `what`; NULL: all. */
void waiting_let_go(struct waiting_list *list, const void *what);
/* Puts all clients of `from` behind those of `to`. */
void waiting_move(struct waiting_list *from, struct waiting_list *to);

/* The main thread calls this before it sleeps. */
void waiting_go_on(void);
/* Sees to it that a turn of the event loop ends soon.  Any thread. */
void waiting_wake(void);
/* Are writes paused, so that nothing may be replicated? */
bool waiting_is_paused(void);
