/* SPDX-License-Identifier: BSD-2-Clause */
/* recover.h: what the machine has left of filters that were written to when it went down. */
#ifndef TAMIS_TXN_RECOVER_H
#define TAMIS_TXN_RECOVER_H

#include "txn/store.h"

/* The same for the record, under the exclusive lock; the caller commits. */
int tamis__recover_filter(struct tamis_store *store, struct tamis__catalog_txn *txn,
                          const struct tamis__record *record);
/* All filters, at the first write after a boot.  Under the exclusive lock. */
int tamis__recover_store(struct tamis_store *store, struct tamis__catalog_txn *txn);
/* Take up what the header of one more segment says. */
void tamis__add_trouble(struct tamis__trouble *trouble, const struct tamis__segment_header *header);
/* What is wrong with the segments of a record, as their headers say; what cannot be read is left
 * out. */
void tamis__look_for_trouble(const struct tamis_store *store, const struct tamis__record *record,
                             struct tamis__trouble *trouble);

#endif
