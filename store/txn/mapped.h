/* SPDX-License-Identifier: BSD-2-Clause */
/* mapped.h: segments of a filter, mapped and held against the catalog. */
#ifndef TAMIS_TXN_MAPPED_H
#define TAMIS_TXN_MAPPED_H

#include <stdbool.h>

#include "catalog/record.h"
#include "kind/kind.h"
#include "txn/store.h"

/* A segment in a view; copies in several views share one mapping. */
struct tamis__store_segment {
    struct tamis__segment segment;
    const struct tamis__kind *kind;
    const struct tamis__by_digest *calls; /* of the kind; NULL where its hash set has no digests */
    unsigned *references;                 /* atomic: views that have the mapping */
};

/* Map one segment of a record and hold it against the catalog.  TAMIS_ECORRUPT and the like. */
int tamis__open_segment(struct tamis_store *store, const struct tamis__record *record,
                        uint32_t index, bool writable, struct tamis__store_segment *segment);

/* Give it back, when no other view has it. */
void tamis__close_segment(struct tamis__store_segment *segment);
/* What is mapped is a view's from now on, if it is of the filter, and `rc`, what is known of it, is
 * 0.  Else it is closed, and that, or TAMIS_EFOREIGN, returned. */
int tamis__adopt_segment(struct tamis_store *store, uint64_t filter_id, int rc,
                         struct tamis__store_segment *segment);
/* The same by number alone. */
int tamis__map_segment(struct tamis_store *store, uint64_t number, uint64_t filter_id,
                       bool writable, struct tamis__store_segment *segment);

#endif
