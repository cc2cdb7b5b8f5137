/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * durable.h: adds keys in threads where that has to wait for the disk: to durable filters always,
 * and to others if the filter must be marked as written to first (docs/durability.md), or is full
 * and must grow.
 *
 * A command that adds to such a filter leaves a job behind: a copy of its keys.  A thread takes
 * all jobs that wait for one filter and adds their keys in one batch, so they share one sync of the
 * filter's log.  Meanwhile the clients of the jobs are blocked, and the server goes on.
 *
 * Two sorts of commands have no client that could wait.  Those of a master or of an AOF need no
 * answer: their jobs for durable filters are left behind all the same.  Those within MULTI or in a
 * script add at once, and the server waits; so do those of a master to other filters.
 *
 * A job is part of the filter from the moment of its command on, as replicas and the AOF have it:
 * whoever reads all of the filter for another use, or closes it, waits for its jobs before
 * (durable_wait()).  So does fork().
 *
 * A filter that grows is made ready for further keys while it has room.  That is a job without
 * keys, for which fork() does not wait.
 */
#pragma once

#include "value/value.h"

/* The answers of a batch of keys. */
struct outcome {
    int64_t rc;           /* what the library's batch call returned */
    const char *sentence; /* tamis_last_error(), if rc is below 0 */
    const uint8_t *answers;
    size_t count;
    bool exact; /* of the value */
};

/* Answers a client whose keys are added; called in the main thread.  argv is its command. */
typedef void answer_fn(RedisModuleCtx *ctx, RedisModuleString **argv,
                       const struct outcome *outcome);

/* Would an add of `count` keys wait for the disk?  Leaves a job behind that makes the filter ready,
 * if it is time for that. */
bool durable_is_wanted(struct value *value, size_t count);
/*
 * Leaves a job behind that adds `count` items to the filter of the value, and answers the client
 * when they are in it; of a durable filter, when they are on the disk.
 *
 * Returns  whether it did; if not, the caller adds at once.
 */
bool durable_add(RedisModuleCtx *ctx, struct value *value, RedisModuleString **items, size_t count,
                 answer_fn *answer);

/* What is called, if there is one, before a job is left behind that adds items, and returns whether
 * `ends` is to be called when they are in, in any thread. */
void durable_watch(bool (*begins)(const struct value *value), void (*ends)(void));

/* Has the filter of the value jobs?  Then it must stay open. */
bool durable_is_busy(const struct value *value);
/* Waits until the filter of the value has no jobs.  In any thread. */
void durable_wait(const struct value *value);
/* The same for all filters. */
void durable_wait_all(void);
/* Frees what durable_add() keeps of the value, which has no jobs. */
void durable_forget(struct value *value);

/* What the threads have done: batches that were brought to the disk, and those that failed. */
struct durable_counts {
    uint64_t batches, failures;
};
struct durable_counts durable_count(void);
