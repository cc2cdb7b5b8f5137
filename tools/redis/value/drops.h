/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drops.h: filters of ours that no value has.
 *
 * Those whose value is gone are dropped by a thread once nothing can bring the value back:
 *
 *     1 no child lives: it opens filters by their ids
 *     2 with an AOF: its buffer was empty at a moment after the value went, and a thread has synced
 *       its files since
 *     3 with tamis.rdb reference: a whole dump was begun after that
 *     4 no value has the id: DEBUG RELOAD binds it again
 *
 * Those that nothing here is about to drop are orphans: a kill, or a dump put back, left them.
 */
#pragma once

#include "value/value.h"

/* The value of the id is gone, after the beginning of dump number `dump`, or NO_DUMP.  Any thread.
 */
void drops_push(const struct id *id, uint64_t dump);
/* A value is to get the filter: it is not dropped, or is gone when this returns.  Any thread. */
void drops_take_back(const struct id *id);

/* Lets what is allowed go on.  Main thread, now and then. */
void drops_pass(RedisModuleCtx *ctx);
/* The dump that was begun last is whole.  Main thread. */
void drops_dump_is_whole(void);
/* How many wait, and how many were dropped. */
uint64_t drops_waiting(void);
uint64_t drops_done(void);
/* The caller has dropped one itself: its name is free.  Any thread. */
void drops_note(void);

/* Calls fn for each orphan.  Returns how many there are, or an error. */
typedef void orphan_fn(void *context, const char *name, const struct id *id);
int64_t orphans_each(orphan_fn *fn, void *context);
/* Has another process a file of the filter open, or mapped, or can that not be told?  Any thread.
 */
bool orphan_is_in_use(const struct id *id);
/* A thread has all of them dropped but those that other processes have open, and logs how many. */
void orphans_drop_all(void);
/* How many there were at the last look. */
int64_t orphans_count(void);
