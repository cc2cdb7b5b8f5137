/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * registry.h: the store of this server, and the values that have a filter of it: in a list, and in
 * tables (table.h) by their keys, by the names of their filters, and by when these were created.
 *
 * One mutex guards the list, the tables, the keys, names and lives of the values in them, and what
 * kept.c and naming.c have.  A caller holds it while it renames a filter, as a name and its filter
 * must not part.  The functions below that want it say so.
 */
#pragma once

#include "value/value.h"

void registry_lock(void);
void registry_unlock(void);
/* registry_wait() returns after a call of registry_tell(), perhaps some time after it, or unasked.
 * The caller holds the mutex, which is given back meanwhile. */
void registry_wait(void);
void registry_tell(void);
/* For a thread that has long work to do under the mutex: lets those have it who wait for it. */
void registry_let_others(void);

/* ---- The store ------------------------------------------------------------------------------- */

/* Opens the store (config.h has its path).  Returns 1; 0 if it was open already; or an error. */
int registry_open(void);
/* The store; NULL if it is not open. */
tamis_store *registry_store(void);
/* Drops a filter of the store by its name.  Returns 0, or an error; then the log says that it
 * stays. */
int registry_drop_filter(const char *name);
/* Renames the filter of a value.  The caller holds the mutex. */
int registry_rename(struct value *value, const char *name);

/* ---- The values ------------------------------------------------------------------------------ */

/* Sets the key of a value, which may be in the list or not.  The caller holds the mutex. */
void registry_set_key(struct value *value, int db, const char *key, size_t key_bytes);
/* The key is gone: from now on the value counts as one without a key (value_is_gone()), and
 * registry_keep() must follow, or registry_leave().  In any thread, without the mutex. */
void registry_goes(struct value *value, struct kept *kept);
/* The key is gone: the value is in the tables of names and of times only, until registry_leave().
 * The caller holds the mutex. */
void registry_keep(struct value *value, struct kept *kept);
/* Sets the name of a filter, and the life of a value, which may be in the list or not.  The caller
 * holds the mutex. */
void registry_set_name(struct value *value, const char *name);
void registry_set_life(struct value *value, enum life life);
/* registry_enter() puts a value, which has its key, into the list; registry_leave() takes it off,
 * if it is there.  The same for its handle (handles.h).  The caller holds the mutex. */
void registry_enter(struct value *value);
void registry_leave(struct value *value);
/* Once there has been a value, each fork() of the process calls these: before it, and first of all
 * in the child. */
void registry_at_fork(void (*before)(void), void (*in_child)(void));

/* The newest value; value->next is the one before it.  Those whose keys are gone may be among them.
 * The caller holds the mutex. */
struct value *registry_first(void);
/* The value whose filter has that name; NULL if there is none.  The caller holds the mutex. */
struct value *registry_find(const char *name);
/* The next one behind `after`, or the first if that is NULL: for a moment a draft may have the name
 * of another filter. */
struct value *registry_find_next(const char *name, const struct value *after);
/* One whose filter was created at that time. */
struct value *registry_find_time(int64_t created_at);
/* The same for values whose keys are gone: the next one behind `after`, or the first if that is
 * NULL. */
struct value *registry_find_kept(const char *name, const struct value *after);
struct value *registry_find_kept_time(int64_t created_at, const struct value *after);
/* Calls fn for each value, with the mutex held. */
void registry_each(void (*fn)(void *context, struct value *value), void *context);
/* The value in state LIFE_LOADED whose filter got its first segment at that time; NULL if there is
 * none. */
struct value *registry_find_loaded(int64_t origin);

/* Does a value have a key of that name, in any database?  Every SETBIT asks this, so it is one look
 * into the table. */
bool registry_has_key(const char *key, size_t key_bytes);
bool registry_is_empty(void);
/* How many values there are, and how many of these have a filter that is not ours. */
uint64_t registry_count(uint64_t *attached);

/* The filter is not ours any more, as the store says already: it stays there when the key goes. */
void registry_give_away(struct value *value);
/* Called when the key of the value is gone.  kept_release() follows, perhaps in another thread. */
void registry_key_is_gone(struct value *value);
