/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * write.h: the exclusive transaction of a store.  Who begins one first removes what earlier ones
 * left behind, and recovers what the machine left when it went down.
 */
#ifndef TAMIS_TXN_WRITE_H
#define TAMIS_TXN_WRITE_H

#include "txn/store.h"

/* Recover what is stale of a filter, and let the catalog know.  It waits for the catalog's lock. */
int tamis__recover(struct tamis_store *store, uint64_t filter_id);

/* Exclusive transaction, after removing what earlier ones left (catalog.h, garbage). */
int tamis__store_begin_write(struct tamis_store *store, struct tamis__catalog_txn **txn);
/* The same without waiting: 1 if begun, 0 if the lock is not free. */
int tamis__store_begin_write_if_free(struct tamis_store *store, struct tamis__catalog_txn **txn);

/* Send the open handles of a filter to the catalog; one that missed it would go on for ever.  Under
 * the exclusive lock, before the commit. */
int tamis__raise_epochs(struct tamis_store *store, const struct tamis__record *record);

#endif
