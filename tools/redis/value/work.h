/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * work.h: threads, and what they are to do.
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

struct job {
    struct job *next;
    /* Does the jobs of a list, the first of which is this, and ends each of them: it owns them. */
    void (*run)(struct job *first);
    size_t bytes; /* that it holds */
    bool before_fork;
};

struct line {
    struct line *next;         /* in the list of those that are ready */
    struct job *first, **last; /* last is NULL as long as there was no job */
    bool busy;                 /* ready, or in work */
    bool alone;                /* of a job without a line: freed behind it */
};

/* Leaves a job behind.  `line`: NULL, or that of a filter, which outlives it.  Main thread. */
void work_submit(struct line *line, struct job *job);
/* Has the line jobs? */
bool work_is_busy(const struct line *line);
/* Waits until the line has none.  Any thread but those of the pool. */
void work_wait(const struct line *line);
/* Waits until all jobs are done that fork() waits for. */
void work_idle(void);
/* Is this a child of fork(), which has no threads? */
bool work_is_child(void);
void work_prepare(void);
