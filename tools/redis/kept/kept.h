/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kept.h: filters whose key is gone.
 *
 * A filter that goes is kept under a name apart (names.h) while a child may save it, and, if dumps
 * have references, until a dump is whole that was begun after it went: the server may die before
 * that, and load the older one.
 */
#pragma once

#include "value/value.h"

/* Says whether a child may save filters that go (`child`), and whether dumps refer to them
 * (`dumps`). */
void kept_hold(bool child, bool dumps);
/* Called when a dump begins, and when it has ended, well or not. */
void kept_dump_begins(void);
void kept_dump_ends(bool well);

/* The key is gone: closes the filter, drops it or keeps it if it is ours, and frees the value. */
void kept_release(struct value *value);
/* Drops the filters that need not be kept any more.  Returns false if the catalog is busy. */
bool kept_drop_due(void);

/* Finds a filter that is kept, by its time of creation, and gives it to the value.  With
 * `about_to_go` the keyspace is loaded anew: then a filter counts that another value still has, as
 * that value is about to go. */
bool kept_take_back(int64_t created_at, bool about_to_go, struct value *value);

/* If a filter that is kept has the name, renames it apart.  Returns whether one had it.  The caller
 * holds the registry's mutex. */
bool kept_makes_way(const char *name);
