/* SPDX-License-Identifier: BSD-2-Clause */
/* exceptions.h: stages, opens and reads the index of exceptions of a record. */
#pragma once

#include "exceptions/set.h"
#include "txn/draft.h"
#include "txn/mapped.h"

/*
 * Makes the index of a sorted set in staging/.  The index is written in full and synced; its header
 * lacks only number, filter_id, publication and generation.  Nothing is staged after an error.
 * Takes no lock.
 */
int tamis__exceptions_stage(struct tamis_store *store, const struct tamis__exceptions *set,
                            const char *name, struct tamis__draft *draft);

/* Maps index `number` read-only and checks it. tamis__close_segment() gives it back.  Errors are
 * those of tamis__map_segment(). */
int tamis__open_index(struct tamis_store *store, uint64_t number, uint64_t filter_id,
                      struct tamis__mapped_segment *index);

/*
 * The exceptions of a record.  They are opened under the catalog's lock (0 also if there are none:
 * reading then gives an empty set).  They are read after the lock is given back, as that may take
 * long.  Reading compares the whole index with its checksum, and closes it; errors name the file.
 * tamis__exceptions_leave() gives back an index that was opened and is not read.
 */
struct tamis__exceptions_source {
    struct tamis__mapped_segment index;
    bool open;
};
int tamis__exceptions_open(struct tamis_store *store, const struct tamis__record *record,
                           struct tamis__exceptions_source *source);
int tamis__exceptions_read(struct tamis_store *store, struct tamis__exceptions_source *source,
                           struct tamis__exceptions *set);
void tamis__exceptions_leave(struct tamis__exceptions_source *source);
