/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crew.h: threads for one stretch of work, and the caller's progress while they are at it.
 *
 * Work is cut into items of a few ms each, which the threads draw in order.  They are made for the
 * stretch and joined at its end; no pool is kept, so there is nothing to carry across fork().  The
 * calling thread draws none where there are others: it wakes now and then to tell the caller's
 * progress, which may end the work.  All signals are blocked in the others, so that handlers run
 * where they did before.
 */
#ifndef TAMIS_BUILD_CREW_H
#define TAMIS_BUILD_CREW_H

#include <stdbool.h>
#include <stdint.h>

struct tamis__crew {
    unsigned threads; /* 1 or more */
    /* NULL, or as tamis_build_spec has it; called in the thread that calls tamis__crew_*. */
    int (*progress)(void *context, uint32_t phase, uint64_t done, uint64_t all);
    void *context;
    uint32_t phase;
    uint64_t done, all; /* done: atomic, raised by the tasks */
    int64_t told_at;    /* steady clock, ns */
};

/* Go over to a phase and tell it.  0, or what progress returned. */
int tamis__crew_phase(struct tamis__crew *crew, uint32_t phase, uint64_t all);
/* Tell how far it is, unless that was told a moment ago.  As above. */
int tamis__crew_tell(struct tamis__crew *crew);

static inline void tamis__crew_done(struct tamis__crew *crew, uint64_t done)
{
    /* ORDER relaxed: a number to show, and nothing hangs on it. */
    (void)__atomic_fetch_add(&crew->done, done, __ATOMIC_RELAXED);
}

/* One item; `worker` is below crew->threads, and no other thread has the same at that time.  0 or
 * an error. */
typedef int tamis__task_fn(void *context, unsigned worker, uint64_t item);

/* Do items 0 .. count - 1.  0, the first error (its sentence is the caller's then), or what
 * progress returned; no item begins after that, and none is under way when this returns. */
int tamis__crew_run(struct tamis__crew *crew, tamis__task_fn *task, void *context, uint64_t count);

#endif
