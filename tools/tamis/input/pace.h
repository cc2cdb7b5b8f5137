/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pace.h: how many keys a batch may have, so that it takes 100 ms at most.
 *
 * Between two batches the command prints what is known, and looks for signals. A batch of 1024 keys
 * takes some microseconds where the filter is in memory, and 14 s where each key waits for a slow
 * disk. So the first batches are small, and a batch grows while it is fast.
 *
 * After a slow batch a probe tells why it was slow: a batch of an eighth of its keys. If that is
 * faster, the keys take the time, and there will be as many as take half of 100 ms. If it is not,
 * the time is that of one sync or one answer, whatever the number of keys. Then batches get larger
 * again, and probes get rarer.
 */
#pragma once

#include <stddef.h>

struct pace {
    size_t keys; /* of the next batch, at most */
    size_t most;
    double slow_s;    /* what the batch before a probe took; 0: the next batch is no probe */
    size_t slow_keys; /* how many it had */
    unsigned wait;    /* so many slow batches more have no probe behind them */
    unsigned waits;   /* the same, after the next probe that is no faster */
};

void pace_init(struct pace *pace, size_t first, size_t most);

/* A batch of so many keys took so long. */
void pace_note(struct pace *pace, size_t keys, double seconds);
