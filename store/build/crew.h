/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crew.h: threads for one stretch of work, while the caller is told of progress.
 *
 * Work is cut into items of a few ms each, which the threads draw in order.  The threads are made
 * for the stretch and joined at its end.  No pool is kept, so there is nothing to carry across
 * fork().  If there are other threads, the calling thread draws no items: it wakes now and then to
 * tell the caller's progress function, which may end the work.  All signals are blocked in the
 * other threads, so that handlers run where they ran before.
 */
#pragma once

#include "base/base.h"

struct tamis__crew {
    unsigned threads; /* 1 or more */
    /* NULL, or as tamis_build_spec has it; called in the thread that calls tamis__crew_*. */
    int (*progress)(void *context, uint32_t phase, uint64_t done, uint64_t all);
    void *context;
    uint32_t phase;
    uint64_t done, all; /* done: atomic, raised by the tasks */
    int64_t told_at;    /* steady clock, ns */
    bool ended;         /* by progress */
};

/* Begins a phase and tells it.  Returns 0, or what progress returned. */
int tamis__crew_phase(struct tamis__crew *crew, uint32_t phase, uint64_t all);
/* Tells how far the work is, unless that was told a moment ago.  Returns as tamis__crew_phase(). */
int tamis__crew_tell(struct tamis__crew *crew);

static inline void tamis__crew_done(struct tamis__crew *crew, uint64_t done)
{
    /* ORDER relaxed: a number to show, on which nothing depends. */
    (void)__atomic_fetch_add(&crew->done, done, __ATOMIC_RELAXED);
}

/* Does one item.  `worker` is below crew->threads, and no other thread has the same at that time.
 * Returns 0 or an error. */
typedef int tamis__task_fn(void *context, unsigned worker, uint64_t item);

/*
 * Does items 0 .. count - 1.  Returns 0, the first error (with its sentence in this thread), or
 * what progress returned.  After an error no item begins, and none is under way when this returns.
 */
int tamis__crew_run(struct tamis__crew *crew, tamis__task_fn *task, void *context, uint64_t count);
