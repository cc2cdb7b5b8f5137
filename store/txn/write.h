/* SPDX-License-Identifier: BSD-2-Clause */
/* write.h: the exclusive transaction of a store.  A process that begins one first removes what
 * earlier processes left behind, and recovers what the machine left when it went down. */
#pragma once

#include "txn/store.h"

/* Recovers the stale segments of a filter, and room that was lost, and tells the catalog.  Waits
 * for the catalog's lock. */
int tamis__recover(struct tamis_store *store, uint64_t filter_id);

/* Begins an exclusive transaction, after removing what earlier processes left (catalog.h,
 * garbage). */
int tamis__store_begin_write(struct tamis_store *store, struct tamis__catalog_txn **txn);
/* As tamis__store_begin_write(), without waiting.  Returns 1 if begun, 0 if the lock is not
 * free. */
int tamis__store_begin_write_if_free(struct tamis_store *store, struct tamis__catalog_txn **txn);

/* Sends the open handles of a filter to the catalog: a handle that missed a change would go on with
 * the old list for ever.  The caller holds the exclusive lock, and commits after it. */
int tamis__raise_epochs(struct tamis_store *store, const struct tamis__record *record);
