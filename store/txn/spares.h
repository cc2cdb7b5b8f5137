/* SPDX-License-Identifier: BSD-2-Clause */
/* spares.h: records of the catalog, brought up to what the segments say (spares.c). */
#ifndef TAMIS_TXN_SPARES_H
#define TAMIS_TXN_SPARES_H

#include "catalog/catalog.h"
#include "file/segment.h"
#include "txn/files.h"
#include "txn/store.h"

struct tamis__numbers;

/* So many are made at once, at the most. */
#define TAMIS__SPARES_MAX 4u

/* Spares that were entered are a part of the list.  Reads headers of files, where the record has
 * spares. */
void tamis__record_promote(const struct tamis__place *place, struct tamis__record *record);

/* The first spare is a part of the list from now on, which is another generation of the filter. */
void tamis__record_enter_spare(struct tamis__record *record);

/* tamis__catalog_get() and tamis__catalog_get_by_id(), and that. */
int tamis__store_get(const struct tamis_store *store, struct tamis__catalog_txn *txn,
                     const char *name, struct tamis__record *record);
int tamis__store_get_by_id(const struct tamis_store *store, struct tamis__catalog_txn *txn,
                           uint64_t filter_id, struct tamis__record *record);

/*
 * Under the exclusive lock: nobody enters a spare of the record any more.  One that was entered
 * meanwhile is in the list then; the others are out of the record, and garbage of this transaction,
 * in `files`.  The caller writes the record, or drops it.  Where it does not commit after all, the
 * next opener for writing, or the next who looks for a spare, offers them anew.
 */
int tamis__spares_take_back(const struct tamis_store *store, struct tamis__catalog_txn *txn,
                            struct tamis__record *record, struct tamis__numbers *files);

#endif
