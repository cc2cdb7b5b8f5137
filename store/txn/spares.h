/* SPDX-License-Identifier: BSD-2-Clause */
/* spares.h: brings records of the catalog up to what the segments say (spares.c). */
#pragma once

#include "txn/files.h"

/* The largest number of spares that are made at once. */
#define TAMIS__SPARES_MAX 4u

/* Makes spares that were entered a part of the list.  Reads headers of files if the record has
 * spares. */
void tamis__record_promote(const struct tamis__place *place, struct tamis__record *record);

/* Makes the first spare a part of the list, which is another generation of the filter. */
void tamis__record_enter_spare(struct tamis__record *record);

/* As tamis__catalog_get() and tamis__catalog_get_by_id(), and brings the record up to date. */
int tamis__store_get(const struct tamis_store *store, struct tamis__catalog_txn *txn,
                     const char *name, struct tamis__record *record);
int tamis__store_get_by_id(const struct tamis_store *store, struct tamis__catalog_txn *txn,
                           uint64_t filter_id, struct tamis__record *record);

/*
 * Reads the record while somebody else has the catalog's lock (catalog/peek.c), and brings it up to
 * date.  Its list ends with the segment whose `next` names none: a segment behind that is in force,
 * and nobody is in it yet. Every `next` before its newest segment names the segment after it, so
 * whoever goes on with this list need not write one, which needs the lock.  Returns as
 * tamis__catalog_peek() does.
 */
int tamis__store_peek(const struct tamis_store *store, uint64_t filter_id,
                      struct tamis__record *record, struct tamis__trouble *trouble);
int tamis__store_peek_named(const struct tamis_store *store, const char *name,
                            struct tamis__record *record);

/*
 * Takes the spares of a record back, under the exclusive lock, so that nobody enters them any more.
 * One that was entered meanwhile is then in the list.  The others are out of the record, and are
 * garbage of this transaction, in `files`.  The caller writes the record or drops it.  If the
 * caller does not commit, the next opener for writing, or the next adder that looks for a spare,
 * offers them again.
 */
int tamis__spares_take_back(const struct tamis_store *store, struct tamis__catalog_txn *txn,
                            struct tamis__record *record, struct tamis__numbers *files);
