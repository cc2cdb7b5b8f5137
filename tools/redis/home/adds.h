/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * adds.h: adds to filters of the store that wait for the disk: those of durable filters, and those
 * that make a filter grow.
 *
 * A thread adds, and answers the clients when the items are in.  Their jobs are part of the filter
 * from the moment of the command on, as replicas and the AOF have it: whoever reads all of the
 * filter for another use waits for its line before (work_wait()), and so does fork().
 *
 * Commands of a master or an AOF need no answer: their jobs for durable filters are left behind all
 * the same.  Those within MULTI or in a script add at once, and the server waits.
 */
#pragma once

#include "value/stored.h"

/* The answers of a batch of keys. */
struct outcome {
    int64_t rc;           /* what the batch call returned */
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
bool adds_wait(struct stored *stored, size_t count);
/* Leaves a job behind that adds the items, and answers the client then.  Returns whether it did; if
 * not, the caller adds at once. */
bool adds_begin(RedisModuleCtx *ctx, const struct value *value, RedisModuleString **items,
                size_t count, answer_fn *answer);

/* What the threads have done: batches of durable filters, and those that failed. */
struct adds_counts {
    uint64_t batches, failures;
};
struct adds_counts adds_count(void);
