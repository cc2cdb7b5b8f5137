/* SPDX-License-Identifier: BSD-2-Clause */
/* exceptions.h: the index of exceptions of a record: staged, opened, read. */
#ifndef TAMIS_TXN_EXCEPTIONS_H
#define TAMIS_TXN_EXCEPTIONS_H

#include "exceptions/set.h"
#include "txn/draft.h"
#include "txn/mapped.h"

/*
 * Make the index of a settled set in staging/, filled and settled: all of its header is there but
 * number, filter_id, publication and generation.  Nothing is staged after an error.  Takes no lock.
 */
int tamis__exceptions_stage(struct tamis_store *store, const struct tamis__exceptions *set,
                            const char *name, struct tamis__draft *draft);

/* Map index `number`, read-only, and check it.  Given back by tamis__close_segment().  Errors as
 * tamis__map_segment(). */
int tamis__open_index(struct tamis_store *store, uint64_t number, uint64_t filter_id,
                      struct tamis__store_segment *index);

/*
 * What a record has of exceptions: open under the catalog's lock (0 too where there are none:
 * reading then gives an empty set), read when
 * the lock is given back, which is what may take long.  Reading holds the whole index against its
 * checksum, and closes it; errors name the file.  An index that was opened and is not read is given
 * back by tamis__exceptions_leave().
 */
struct tamis__exceptions_source {
    struct tamis__store_segment index;
    bool open;
};
int tamis__exceptions_open(struct tamis_store *store, const struct tamis__record *record,
                           struct tamis__exceptions_source *source);
int tamis__exceptions_read(struct tamis_store *store, struct tamis__exceptions_source *source,
                           struct tamis__exceptions *set);
void tamis__exceptions_leave(struct tamis__exceptions_source *source);

#endif
