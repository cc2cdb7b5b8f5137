/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drops.h: filters of ours whose value is gone, and which a thread drops once nothing can bring the
 * value back:
 *
 *     1 no child lives: it opens filters by their ids
 *     2 with an AOF: its buffer was empty at a moment after the value went, and a thread has synced
 *       its files since
 *     3 with tamis.rdb reference: a whole dump was begun after that
 *     4 no value has the id: DEBUG RELOAD binds it again
 */
#pragma once

#include "value/value.h"

#define NO_DUMP UINT64_MAX /* refers to the filter */

/* The value of the id is gone, when drops_dumps() was `dump`.  Any thread. */
void drops_push(const struct id *id, uint64_t dump);
/* Is the filter about to be dropped? */
bool drops_have(const struct id *id);
/* A value is to get the filter: it is not dropped, or is gone when this returns. */
void drops_take_back(const struct id *id);

/* Does a value have the id?  Any thread. */
typedef bool has_fn(const struct id *id);
/* Lets what is allowed go on.  Main thread, now and then. */
void drops_pass(RedisModuleCtx *ctx, has_fn *has);
/* A dump begins; it was whole. */
void drops_dump_begins(void);
void drops_dump_is_whole(void);
/* How many dumps were begun.  Any thread. */
uint64_t drops_dumps(void);
/* How many wait, and how many were dropped. */
uint64_t drops_waiting(void);
uint64_t drops_done(void);
/* The caller has dropped one itself: its name is free.  Any thread. */
void drops_note(void);
void drops_prepare(void);
