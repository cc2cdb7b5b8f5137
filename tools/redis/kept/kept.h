/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kept.h: filters whose key is gone.
 *
 * Dropping and closing filters waits for the disk, so a thread does both, and the server goes on.
 * kept_release() hands a value over, and takes the time of a few instructions.  The thread drops
 * many filters in one change of the store.  It keeps a filter under a name apart (names.h) while a
 * child may save it, and, if dumps have references, until a dump is whole that was begun after it
 * went: the server may die before that, and load the older one.
 *
 * A filter that waits for the thread still has its name.  Whoever wants the name makes it give way.
 * If the server is killed meanwhile, the filter is a leftover of the next start (leftovers.h).
 */
#pragma once

#include "value/value.h"

/* Says whether a child may save filters that go (`child`), and whether dumps refer to them
 * (`dumps`). */
void kept_hold(bool child, bool dumps);
/* Called when a dump begins, and when it has ended, well or not. */
void kept_dump_begins(void);
void kept_dump_ends(bool well);

/* The key is gone.  The thread closes the filter, drops it or keeps it if it is ours, and frees the
 * value. */
void kept_release(struct value *value);
/* Drops a filter of ours that no value has and no dump needs. */
void kept_drop(const char *name, int64_t created_at, uint32_t kind);
/* Until kept_unpin() the filter of the value stays open and the value is not freed, also if its key
 * goes: a thread reads the filter.  The main thread calls both. */
void kept_pin(struct value *value);
void kept_unpin(struct value *value);
/* The same, and the filter keeps its name, by which a thread changes it.  That may be about to
 * change already: the thread waits for that (naming_wait()). */
void kept_pin_named(struct value *value);
void kept_unpin_named(struct value *value);
/* Makes sure that the thread looks for work.  The caller holds the registry's mutex. */
void kept_wake(void);
/* The thread tries again what the catalog was too busy for.  Called now and then. */
void kept_try_again(void);
/* Waits until the thread has nothing to do.  Returns how many filters it could not drop, as the
 * catalog is busy. */
size_t kept_finish(void);

/* Finds a filter that is kept, by its time of creation, and gives it to the value.  With
 * `about_to_go` the keyspace is loaded anew: then a filter counts that another value still has, as
 * that value is about to go. */
bool kept_take_back(int64_t created_at, bool about_to_go, struct value *value);

/* If a filter without a key has the name, renames it apart.  Returns whether one had it; false,
 * too, if the thread is at work for that filter.  The caller holds the registry's mutex. */
bool kept_makes_way(const char *name);
/* The same, but waits for the thread.  The caller does not hold the mutex.  `waits`: until the
 * thread has dropped it, if it is about to; to rename it waits for the disk with the mutex. Returns
 * false if one that is about to be dropped has the name yet. */
bool kept_give_up_name(const char *name, bool waits);
