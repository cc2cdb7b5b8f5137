/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crowd.h: a filter of a store and a few processes that fill it, all with different batches, while
 * the test does harm to them.  For programs on the library with its test points.
 */
#ifndef TAMIS_MULTIPROC_CROWD_H
#define TAMIS_MULTIPROC_CROWD_H

#include <sys/types.h>

#include "bound.h"
#include "points.h"
#include "spawn.h"

#define CROWD_MAX 4u

/* What it adds, and how.  Zero: a first segment of 1000 keys at 1 %, 80 times as many keys, which
 * is three segments, 4 adders, kind blocked, batches of 1 key and more. */
struct crowd_plan {
    const char *name; /* of the filter */
    uint64_t capacity, keys;
    double rate;
    unsigned adders;
    uint32_t kind, window_items;
    bool durable;
    size_t batch_min;
    int64_t timeout_ms;  /* of who waits for others; 0: what the library has */
    bool may_close_busy; /* the lock may be held as an adder closes, for longer than it waits */
};

/* In memory that the processes share. */
struct crowd {
    struct crowd_plan plan;
    char store_path[4096];
    tamis_store *store; /* of the parent, as is the filter, from before it all */
    tamis_filter *filter;
    struct bound_keys *keys;
    pid_t pids[CROWD_MAX];
    struct spawn_barrier barrier; /* the adders and the parent */
    /* Who passes `stop_at` as number `stop_pass` (0: nobody) stops there, and says so in `stopped`.
     * */
    unsigned stop_at;
    uint64_t stop_pass;
    pid_t stopped;
    uint64_t passes[TAMIS__POINT_COUNT_OF]; /* by all */
};

/* Make the filter, in a store that is made where there is none. */
struct crowd *crowd_new(const char *store_path, const struct crowd_plan *plan);
/* Start the adders.  When this returns all have opened the filter, and wait for crowd_go(). */
void crowd_start(struct crowd *crowd);
void crowd_go(struct crowd *crowd);
/* How many items there are; for waiting until so many are in. */
uint64_t crowd_items(const struct crowd *crowd);
bool crowd_is_over(const struct crowd *crowd); /* has everybody ended? */
/* Wait for the end of all, measure, print the line of the case, and give all back.  Returns 1 if it
 * failed. */
unsigned crowd_end(struct crowd *crowd, const char *what, const struct bound_demand *demand);
/* The same in two steps, where there is more to judge. */
void crowd_measure(struct crowd *crowd, const struct bound_demand *demand,
                   struct bound_outcome *outcome);
unsigned crowd_report(struct crowd *crowd, const char *what, const struct bound_outcome *outcome);
void crowd_free(struct crowd *crowd);

#endif
