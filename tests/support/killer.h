/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * killer.h: processes that are killed by the thousand, from outside and by their own hand at the
 * named points, each followed by another.  For programs on the library with its test points.
 */
#ifndef TAMIS_SUPPORT_KILLER_H
#define TAMIS_SUPPORT_KILLER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "points.h"
#include "spawn.h"

#define KILLER_MAX 16u

/* In memory that the processes share: spawn_shared(). */
struct killer {
    spawn_body *body; /* never returns, or its end is taken for a failure */
    void *context;
    unsigned count;
    uint64_t seed, births;
    pid_t pids[KILLER_MAX];
    int64_t died_at[KILLER_MAX]; /* ns on the monotonic clock, by its own hand; 0: it has not */
    uint64_t deaths_at[TAMIS__POINT_COUNT_OF]; /* by their own hand */
    uint64_t kills;                            /* all deaths that were reaped */
};

/* Start `count` of them.  `seed`: of the random numbers of all. */
void killer_begin(struct killer *killer, uint64_t seed, unsigned count, spawn_body *body,
                  void *context);

/* The index of a process that has died, -1 if none has.  One that ended otherwise ends the program.
 * */
int killer_reap(struct killer *killer);
/* Start another in its place. */
void killer_start(struct killer *killer, unsigned index);
/* Both, for all that are dead. */
void killer_replace(struct killer *killer);
/* kill -9 from outside; nothing where it is dead already. */
void killer_kill(const struct killer *killer, unsigned index);
/* Kill the rest. */
void killer_end(struct killer *killer);

/*
 * In process `index`, first thing: at every named point it yields now and then; every other process
 * dies at one of the next `passes` points.  Returns the state of random numbers that no other
 * process has.
 */
uint64_t killer_arm(struct killer *killer, unsigned index, uint64_t passes);
/* Die at this point instead, when it was passed so many times before. */
void killer_arm_at(unsigned point, uint64_t passes);
/* Die now, at a place that has no name. */
void killer_die(void);

int64_t killer_clock(void);

#endif
