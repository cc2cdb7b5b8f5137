/* SPDX-License-Identifier: BSD-2-Clause */
/* riches.h: a store with a filter of every sort, and what it looks like to a user. */
#ifndef TAMIS_UNIT_RICHES_H
#define TAMIS_UNIT_RICHES_H

#include "filter/publish.h"
#include "fixture.h"

/*
 * A closed store; *path is the caller's to free.  In it:
 *
 *     plain, foreign      a blocked filter; one of kind bloom with hash set php
 *     grown, refusing     three segments; one that is full and refuses
 *     window              of items, rotated until slices were left behind
 *     counting            with counters that have overflowed
 *     renamed             twice
 *     list                generations 3 (in force) and 2, with exceptions by hand and found
 *     back                a grown list in force after a rollback, and grown since; generation 3 is
 *                         kept
 *     again               generation 1 in force after a rollback; 2 is kept
 *     static, empty       of kind fuse, the first with a generation that is kept
 */
void riches_make(char **path);

/* A generation of kind fuse with the keys from, from + 1 ... (as 8 bytes), put in force. */
void riches_publish_fuse(tamis_store *store, const char *name, uint64_t from, uint64_t count);

/*
 * All that can be asked about the store, but the times: what `list` says of each filter, its kept
 * generations, its exceptions, its answers to 20,000 keys.  The caller frees the text.
 */
char *riches_portrait(const char *path);
/* The same of a store that may be damaged: 0, or the first error. */
int riches_try_portrait(const char *path, char **text);
void riches_assert_portrait(const char *path, const char *expected);

#endif
