/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * work.h: threads, what they are to do, and the lock for what they share with the main thread.
 *
 * What must wait for a disk is a job.  Jobs of one filter form a line and are done in their order;
 * jobs of different lines are done by different threads of one pool.  A job without a line is a
 * line of its own.  Jobs that follow each other in a line, and have the same function, are done by
 * one call of it: so the keys of many clients come to the disk by one sync.
 *
 * fork() waits until the jobs that are marked `before_fork` are done: what they bring is told to
 * replicas already.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "server/redis_api.h"

struct job {
    struct job *next;
    /* A thread: does the jobs of a list, the first of which is this.  Jobs without an end are its
     * own from then on. */
    void (*run)(struct job *first);
    /* The main thread calls this behind that, in a turn of the event loop.  It may be NULL. */
    void (*end)(RedisModuleCtx *ctx, struct job *job);
    size_t bytes; /* that it holds */
    bool before_fork;
    bool done; /* under the lock: it waits for its end */
};

struct line {
    struct line *next;         /* in the list of those that are ready */
    struct job *first, **last; /* last is NULL as long as there was no job */
    bool busy;                 /* ready, or in work */
    bool alone;                /* of a job without a line: freed behind it */
};

/* The lock of all that threads share.  Nobody holds it over a call of the server, but to allocate,
 * or of the library. */
void work_lock(void);
void work_unlock(void);
/* Gives the lock back until there is news. */
void work_sleep(void);
void work_tell_news(void);

/* Leaves a job behind.  `line`: NULL, or that of a filter, which outlives it.  Main thread. */
void work_submit(struct line *line, struct job *job);
/* Has the line jobs? */
bool work_is_busy(const struct line *line);
/* Waits until the line has none.  Any thread but those of the pool. */
void work_wait(const struct line *line);
/* Waits until all jobs are done that fork() waits for. */
void work_idle(void);
/* Waits until a thread has done a job, which has an end. */
void work_await(const struct job *job);
/* The same, and ends the job at once. */
void work_finish(RedisModuleCtx *ctx, struct job *job);
/* Ends those that are done. */
void work_pass(RedisModuleCtx *ctx);
/* Is this a child of fork(), which has no threads? */
bool work_is_child(void);
void work_prepare(void);
