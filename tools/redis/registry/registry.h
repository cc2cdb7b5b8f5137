/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * registry.h: the store of this server, and the values that have a filter of it: in a list, and in
 * a table by the hashes of their keys.
 *
 * One mutex guards the list, the table, the keys, names and lives of the values in them, and what
 * kept.c and naming.c have.  A caller holds it while it renames a filter, as a name and its filter
 * must not part.  The functions below that want it say so.
 */
#pragma once

#include "value/value.h"

void registry_lock(void);
void registry_unlock(void);

/* ---- The store ------------------------------------------------------------------------------- */

/* Opens the store (config.h has its path).  Returns 1; 0: it was open; or an error. */
int registry_open(void);
/* The store; NULL if it is not open. */
tamis_store *registry_store(void);
/* Drops a filter of the store by its name; the log has what stays.  Returns 0, or an error. */
int registry_drop_filter(const char *name);
/* Renames the filter of a value.  The caller holds the mutex. */
int registry_rename(struct value *value, const char *name);

/* ---- The values ------------------------------------------------------------------------------ */

/* Makes that the key of the value, which may be in the list or not.  The caller holds the mutex. */
void registry_set_key(struct value *value, int db, const char *key, size_t key_bytes);
/* Puts a value that has its key into the list, and takes it off again, if it is there.  The caller
 * holds the mutex. */
void registry_enter(struct value *value);
void registry_leave(struct value *value);

/* The newest value; value->next is the one before it.  The caller holds the mutex. */
struct value *registry_first(void);
/* The value whose filter has that name; NULL if there is none.  The caller holds the mutex. */
struct value *registry_find(const char *name);
/* Calls fn for each value, with the mutex held. */
void registry_each(void (*fn)(void *context, const struct value *value), void *context);
/* The value that a dump brought, and nothing else, whose filter has its first segment from then. */
struct value *registry_find_loaded(int64_t origin);

/* Has a key of that name, in any database, a value of ours?  One look, for every SETBIT. */
bool registry_has_key(const char *key, size_t key_bytes);
bool registry_is_empty(void);

/* From now on the filter is not ours: it stays when its key goes. */
int registry_give_away(struct value *value);
/* The key of the value is gone, and kept_release() will come, perhaps in another thread. */
void registry_key_is_gone(struct value *value);
