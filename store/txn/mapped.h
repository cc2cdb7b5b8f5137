/* SPDX-License-Identifier: BSD-2-Clause */
/* mapped.h: maps the segments of a filter and compares them with the catalog. */
#pragma once

#include "catalog/record.h"
#include "kind/kind.h"
#include "segment/pages.h"
#include "segment/sums.h"
#include "txn/store.h"

/* A segment (segment/segment.h) with what its kind can do, as a view has it.  Copies in several
 * views share one mapping. */
struct tamis__mapped_segment {
    struct tamis__segment segment;
    const struct tamis__kind *kind;
    const struct tamis__by_digest *calls; /* of the kind; NULL: its hash set has no digests */
    unsigned *references;                 /* atomic: number of views that have the mapping */
    int64_t
        past_at; /* of this view: when the window has left it, ns since 1970; INT64_MAX: never */
};

/* Maps one segment of a record and compares it with the catalog.  Errors: TAMIS_ECORRUPT and the
 * like. */
int tamis__open_segment(struct tamis_store *store, const struct tamis__record *record,
                        uint32_t index, bool writable, struct tamis__mapped_segment *segment);

/* The same for a caller that has no lock on the catalog: it writes nothing into the segment, not
 * its name either. */
int tamis__map_recorded(struct tamis_store *store, const struct tamis__record *record,
                        uint32_t index, bool writable, struct tamis__mapped_segment *segment);

/* In which pages the filter is to have the segment: TAMIS_PAGES_SMALL or TAMIS_PAGES_HUGE. */
uint32_t tamis__pages_recorded(const struct tamis__record *record, uint32_t index,
                               const struct tamis__segment *segment);

/* Gives the segment back.  The last view that has it unmaps it. */
void tamis__close_segment(struct tamis__mapped_segment *segment);
/* Makes a mapped file the segment of a view, if `rc` is 0 and the file belongs to the filter.
 * Otherwise closes it, and returns `rc` or TAMIS_EFOREIGN. */
int tamis__adopt_segment(struct tamis_store *store, uint64_t filter_id, int rc,
                         struct tamis__mapped_segment *segment);
/* Reads all data of a segment that is static or sealed: are they what they were when it was made?
 * The verdict is TAMIS__SUMS_NONE for a segment that has no checksums.  Returns 0, or an error:
 * nobody knows. */
int tamis__look_at_rest(const struct tamis__mapped_segment *segment,
                        struct tamis__sums_verdict *verdict);
/* The same.  Returns 0, also without checksums; TAMIS_ECORRUPT, with a sentence. */
int tamis__check_at_rest(const struct tamis__mapped_segment *segment);
/* As tamis__open_segment(), if only the number of the segment is known. */
int tamis__map_segment(struct tamis_store *store, uint64_t number, uint64_t filter_id,
                       bool writable, struct tamis__mapped_segment *segment);
