/* SPDX-License-Identifier: BSD-2-Clause */
/* merges.h: filters to merge, merging in one line, and merges that are stopped or killed. */
#ifndef TAMIS_UNIT_MERGES_H
#define TAMIS_UNIT_MERGES_H

#include "base/point.h"
#include "fixture.h"

tamis_filter *merges_make(tamis_store *store, const char *name,
                          const struct tamis_filter_spec *spec);
/* A filter of Redis' bit order, which only an import makes: an empty string of the hash set guava.
 * */
tamis_filter *merges_import_empty(tamis_store *store, const char *name);
/* Add keys from, from + step, ... below `to`. */
void merges_add(tamis_filter *filter, uint64_t from, uint64_t to, uint64_t step);

int merges_into(tamis_filter *filter, tamis_filter *source);
int merges_new(tamis_store *store, const char *name, tamis_filter **sources, size_t count,
               uint32_t flags, tamis_filter **filter);

/* For `progress`: TAMIS_ELIMIT at the call that counts the int at `context` down to 0. */
int merges_stop(void *context, uint64_t done_bytes, uint64_t all_bytes);

/*
 * A child merges filter "b" of the store into "a" or, where `made` is not NULL, makes a new filter
 * of that name from "b", and from "a" if it is there.  It must be killed where it passes the point
 * for the time after `passes`.
 */
void merges_killed(const char *path, unsigned point, unsigned passes, const char *made);

#endif
