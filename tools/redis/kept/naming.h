/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * naming.h: a filter has the name of its key.
 *
 * Two values may claim one name for a while: RESTORE REPLACE loads the new value before it frees
 * the old one, FLUSHALL ASYNC frees in another thread, a replica that loads beside its old data has
 * both.  Then the filter that has the name is renamed apart (names.h), and gets its name later, or
 * is dropped under the other one.
 *
 * To rename waits for the disk, so the thread of kept.c does it, and the server goes on: a filter
 * may have the old name of its key for a moment.  While a dump or an AOF is loaded, the main thread
 * does it at once.
 */
#pragma once

#include "kept/leftovers.h"
#include "value/value.h"

/* If a filter of ours has the name, renames it apart.  Of a caller that holds names
 * (naming_hold()), which others may take until this returns. */
void naming_make_way(const char *name);
/* The same, if the filter is an orphan. */
void naming_moves_orphan(const char *name);
/* While a filter is being made, the thread renames none: it might give one the name meanwhile.  The
 * maker would notice only at its end, when what it reads is read. */
void naming_hold(void);
void naming_go_on(void);
/* Lists a value whose filter is open already, under the name it has. */
void naming_adopt(struct value *value, int db, const char *key, size_t key_bytes);
/* Gives the value another key, and its filter the name of that key, if the filter is ours. */
void naming_follow(struct value *value, int db, const char *key, size_t key_bytes);
/* Drops the filter of the value and gives it another one of the store, which is open and has that
 * name. */
void naming_replace(struct value *value, const char *name, tamis_filter *filter);
/* The same for a value whose draft is given up: it gets a leftover, which stays closed. */
void naming_replace_draft(struct value *value, const struct leftover *l, int64_t origin);
/* Lets the thread give the filter of the value the name of its key, if it has another one. */
void naming_settle(struct value *value);
/* Called when databases a and b change places: so do their values. */
void naming_swap(int a, int b);
/* Renames some of the filters that could not be renamed before.  Called now and then. */
void naming_try_again(void);
/* Waits until the filter of the value has the name of its key, if it can have it.  NULL: all. */
void naming_wait(const struct value *value);
/* The same for one value, whose filter keeps that name until kept_unpin_named(). */
void naming_keep(struct value *value);
