/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keeper.h: the store of this server, the values that are on it, and their names.
 *
 * A filter has the name of its key.  Two values may claim one name for a while: RESTORE REPLACE
 * loads the new value before it frees the old one, FLUSHALL ASYNC frees in another thread, a
 * replica that loads beside its old data has both.  Then the one that is there is renamed apart
 * (names.h), and gets its name later, or is dropped under the other one.
 */
#pragma once

#include "value.h"

/* Opens the store (config.h has its path), or tries again to; returns NULL if that fails, and
 * tamis_last_error() says why. */
tamis_store *keeper_store(void);

/* Makes a filter of that name in the store, and opens it. */
typedef int maker_fn(void *context, tamis_store *store, const char *name, tamis_filter **filter);
/* The maker of a filter that a struct tamis_filter_spec describes. */
int maker_of_spec(void *spec, tamis_store *in, const char *name, tamis_filter **filter);

/*
 * Makes the filter of a key, and lists the value.
 *
 * Returns  0, or what `make` returned.  TAMIS_EEXIST: a filter that is not of this server has the
 *          name; while data are loaded, another name is taken then.
 */
int keeper_make(struct value *value, int db, const char *key, size_t key_bytes, maker_fn *make,
                void *context);
/* Lists a value whose filter is open already, under the name it has. */
void keeper_adopt(struct value *value, int db, const char *key, size_t key_bytes);
/* The key of the value is this one now: renames its filter, if it is one of ours. */
void keeper_settle(struct value *value, int db, const char *key, size_t key_bytes);
/* Another filter, which is open and has that name, takes the place of the value's own, which is
 * dropped. */
void keeper_replace(struct value *value, const char *name, tamis_filter *filter);
/* The key is gone, and keeper_drop() will come, perhaps in another thread. */
void keeper_goes(struct value *value);
/* The key is gone: closes the filter, drops it if it is ours, and frees the value. */
void keeper_drop(struct value *value);
/* Drops a filter of the store by its name; the log has what stays.  Returns 0, or an error. */
int keeper_drop_filter(const char *name);
/* From now on the filter is not ours: it stays when its key goes. */
int keeper_leave(struct value *value);
/* Opens a filter of the store for a value, by its name.  TAMIS_EBUSY: a key has it already. */
int keeper_attach(struct value *value, int db, const char *key, size_t key_bytes, const char *name);

/* The value whose filter has that name; NULL if there is none. */
struct value *keeper_find(const char *name);

/* A value that a dump brought, and nothing else, whose filter has its first segment from then. */
struct value *keeper_find_loaded(int64_t origin);

/*
 * A filter that goes is kept under a name apart while a child may save it (`child`), and, if dumps
 * have references (`dumps`), until a dump is whole that was begun after it went: the server may die
 * before that, and load the older one.
 */
void keeper_hold(bool child, bool dumps);
/* A dump begins; it has ended, well or not. */
void keeper_dump_begins(void);
void keeper_dump_ends(bool well);
/* Renames what is not settled, and drops what was kept.  Called now and then. */
void keeper_tidy(void);
/* The values of databases a and b change places. */
void keeper_swap(int a, int b);

/* Finds a filter that went and is kept, by its time of creation, and takes it back: opens it.
 * `about_to_go`: the keyspace is loaded anew, so a filter that a value has now is about to go. */
bool keeper_take_back(int64_t created_at, bool about_to_go, struct value *value);

/* Has a key of that name, in any database, a value of ours?  One look, for every SETBIT. */
bool keeper_has_key(const char *key, size_t key_bytes);
bool keeper_is_empty(void);

/* Calls fn for each value, with the list locked. */
void keeper_each(void (*fn)(void *context, const struct value *value), void *context);

/* ---- leftovers.c: what the store had when the server began ---------------------------------- */

/* Lists the store's filters.  Called when the store has been opened. */
void leftovers_read(tamis_store *store);
/* Opens the filter of that time of creation among them, and takes it for the value. */
bool leftovers_take(int64_t created_at, struct value *value);
/* The same among the filters of others that the store has now. */
bool leftovers_take_others(int64_t created_at, struct value *value);
/* The same for a filter of that name, ours, whose first segment was made at that time. */
bool leftovers_take_counts(const char *name, int64_t origin, struct value *value);
/* If one of them that is ours has the name, it is renamed apart; returns whether. */
bool leftovers_make_way(tamis_store *store, const char *name);
/* All keys are loaded.  What was loaded anew gets what the store had of it before; what no key has
 * is an orphan, and the log says so. */
void leftovers_finish(RedisModuleCtx *ctx);
bool leftovers_are_open(void);

/* An orphan: a filter of ours without a key.  Calls fn for each. */
typedef void orphan_fn(void *context, const char *name, const char *was);
void orphans_each(orphan_fn *fn, void *context);
/* The filter of that name is a key's again. */
void leftovers_forget(const char *name);
/* Drops the orphan of that name.  TAMIS_ENOTFOUND: it is none. */
int orphans_drop(const char *name);
