/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * task.h: a command whose work waits for the disk.
 *
 *     struct task *task = task_of(ctx);        the command is run anew: the work is done
 *     if (task == NULL) {
 *         task = ...;                          what a thread needs, by value; values are pinned
 *         if (task_begin(ctx, again, task)) return REDISMODULE_OK;
 *     }                                        the client cannot wait: the work is done, too
 *     ...                                      replies by what task->rc says, and
 *     task_tell(ctx, task);                    if it changes a filter
 *     task_end(ctx, task);
 *
 * A task that changes a filter begins when no other task changes a filter that it uses.  Replicas
 * and the AOF are told the change in the turn of the event loop in which the work has ended, in the
 * order of the changes, whether or not its client is still there.  Other commands on that filter
 * come behind that (task_holds()), and COPY waits for it (task_settle()).
 */
#pragma once

#include "value/reply.h"
#include "value/stored.h"

#define PINS_MAX 64

struct task {
    struct job job;
    int (*work)(struct task *task);    /* a thread, or the main thread */
    void (*forget)(struct task *task); /* frees all of it; main thread; NULL: it is one block */
    struct stored *pinned[PINS_MAX];
    unsigned pin_count;
    struct waiting *waiting; /* NULL: nobody waits */
    int rc;
    bool told;       /* replicas and the AOF have the command */
    bool of_replica; /* the server was one when the task began */
    /* The filter that it changes, and the command, held; tell: what is told in its place. */
    struct stored *changed;
    RedisModuleString **argv;
    int argc;
    void (*tell)(RedisModuleCtx *ctx, const struct task *task);
    bool taken; /* the command has used what came of it */
    char sentence[1024];
};

/* Pins what the task needs; false: too many. */
bool task_pin(struct task *task, struct stored *stored);
struct task *task_of(RedisModuleCtx *ctx);
/* Returns whether the client waits.  Jobs of all pinned filters that were left behind before are
 * done before the work. */
bool task_begin(RedisModuleCtx *ctx, RedisModuleReplyFunc *again, struct task *task);
/* The task is to change the filter, which it has pinned. */
void task_changes(struct task *task, struct stored *stored, RedisModuleString **argv, int argc);
/* Tells replicas and the AOF the command, once. */
void task_tell(RedisModuleCtx *ctx, struct task *task);
/* Begins tasks, and then ends all jobs that are done, unless writes are paused or data are loaded:
 * in a turn of the event loop.  What the last change held has gone on by then, so it comes before
 * the next change. */
void task_pass(RedisModuleCtx *ctx);
/* Is another command changing the filter?  Then this one is put off, if its client can wait; else
 * the server waits for the change, and tells it first. */
bool task_holds(RedisModuleCtx *ctx, struct stored *stored, RedisModuleReplyFunc *again);
/* Waits for the change of the filter that is under way, if there is one, and tells it.  ctx: NULL
 * where there is none. */
void task_settle(RedisModuleCtx *ctx, struct stored *stored);
/* Ends a task that was done in the main thread; others end when their client does. */
void task_end(RedisModuleCtx *ctx, struct task *task);
/* "ERR <what>: <the task's sentence>". */
int task_reply_failure(RedisModuleCtx *ctx, const struct task *task, const char *what);
