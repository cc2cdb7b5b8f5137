/* SPDX-License-Identifier: BSD-2-Clause */
/* recover.h: recovers filters that were written to when the machine went down. */
#pragma once

#include "txn/store.h"

/* Recovers the filter of a record, under the exclusive lock.  The caller commits. */
int tamis__recover_filter(struct tamis_store *store, struct tamis__catalog_txn *txn,
                          const struct tamis__record *record);
/*
 * Opens a filter again that refuses keys, or will, although it has room: because adders that had
 * taken room gave it back late, or because they were killed and it was lost with them.  The latter
 * is made free again only if nobody writes to the filter.  Call under the exclusive lock.  Does
 * nothing where there is nothing to regain.
 */
int tamis__recover_room(const struct tamis_store *store, const struct tamis__record *record);
/* May tamis__recover_room() have something to do? */
bool tamis__may_regain(const struct tamis__policy *policy,
                       const struct tamis__segment_header *newest);
/* Recovers all filters, at the first write after a boot.  The caller holds the exclusive lock. */
int tamis__recover_store(struct tamis_store *store, struct tamis__catalog_txn *txn);
/* Adds to *trouble what the header of one more segment says. */
void tamis__add_trouble(struct tamis__trouble *trouble, const struct tamis__segment_header *header);
/* Reads from the headers what is wrong with the segments of a record.  A header that cannot be read
 * is left out.  Returns whether a segment is stale. */
bool tamis__look_for_trouble(const struct tamis_store *store, const struct tamis__record *record,
                             struct tamis__trouble *trouble);
/* Keys of a segment that are gone. */
struct tamis__missing {
    uint64_t filter_id, segment;
    int64_t since; /* no key that was added before this is among them */
    uint64_t keys; /* how many of them the catalog had counted; 0: not known */
};
/* Makes the filter unclean, in its segment at once and in the catalog when the caller commits.
 * Call under the exclusive lock. */
int tamis__note_missing(const struct tamis_store *store, struct tamis__catalog_txn *txn,
                        const struct tamis__missing *missing);
/* How many keys the catalog has recorded that the segment does not count, so that they are gone: it
 * is an older copy, or a power cut took them.  0 if adders that were at work may explain it. */
uint64_t tamis__missing_items(const struct tamis__listed_segment *recorded,
                              const struct tamis__segment *segment);
/* Brings the filter's trouble in the catalog up to what its segments say. */
int tamis__put_trouble(struct tamis__catalog_txn *txn, uint64_t filter_id,
                       struct tamis__trouble is);
