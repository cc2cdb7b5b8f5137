/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * naming.h: a filter has the name of its key.
 *
 * Two values may claim one name for a while: RESTORE REPLACE loads the new value before it frees
 * the old one, FLUSHALL ASYNC frees in another thread, a replica that loads beside its old data has
 * both.  Then the filter that has the name is renamed apart (names.h), and gets its name later, or
 * is dropped under the other one.
 */
#pragma once

#include "value/value.h"

/* If a filter of ours has the name, it is renamed apart. */
void naming_make_way(const char *name);
/* Lists a value whose filter is open already, under the name it has. */
void naming_adopt(struct value *value, int db, const char *key, size_t key_bytes);
/* The key of the value is this one now: renames its filter, if it is one of ours. */
void naming_follow(struct value *value, int db, const char *key, size_t key_bytes);
/* Another filter of the store, which is open and has that name, takes the place of the value's own,
 * which is dropped. */
void naming_replace(struct value *value, const char *name, tamis_filter *filter);
/* The values of databases a and b change places. */
void naming_swap(int a, int b);
/* Renames what could not be renamed before.  Called now and then. */
void naming_try_again(void);
