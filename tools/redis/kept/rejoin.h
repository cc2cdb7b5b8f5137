/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rejoin.h: when all is loaded, the keys get the filters that the store had of them before.
 *
 * The last server did not drop its filters when it ended.  So the store has, of most keys that are
 * now loaded, the filter with all that was acknowledged, also what the dump or the AOF lacks after
 * a crash.
 *
 *     a dump refers to it, or has it, by the time   that filter is taken, and nothing is copied
 *     at which it was made
 *     a dump or the AOF makes the key anew          it is taken when all is loaded, if it has all
 *                                                   bits of the new one; else they are merged, if
 *                                                   it may be the same filter, grown another way
 *     its key was gone already (NAME_TRASH,         it is dropped; an orphan, if a dump alone was
 *     moves.h)                                      loaded, which may be older than that
 *     the server was killed as it loaded the same   it is dropped (NAME_LOADING); under the name of
 *     (MOVES_LOAD)                                  a key, it is that key's if no other one is
 *     no key has it                                 an orphan: it stays, and is told; or it is
 *                                                   dropped (unwanted.h)
 *
 * A filter of kind counting would count twice by the second way: the AOF alone says what it has,
 * and what the store had of it is dropped.
 *
 * What was loaded may be behind the store: a key was deleted or renamed since.  Then the filter of
 * its name in the store is another one.  It is known by its origin, if what was loaded has that (a
 * dump, RESTORE), or as it lacks bits of the new one though neither has grown.  Filters that are
 * copies of each other have one origin.
 */
#pragma once

#include <stdbool.h>

#include "server/redis_api.h"

/* Called when all keys are loaded; `has_loaded`: there was a dump or an AOF; `has_aof`: an AOF.  A
 * key that was loaded anew gets the filter that the store had of it before.  A filter that no key
 * has is an orphan: the log says so, or unwanted.c drops it.  A second call does nothing; nor does
 * a call while the store cannot be opened. */
void rejoin_finish(RedisModuleCtx *ctx, bool has_loaded, bool has_aof, bool drop_orphans);
