/* SPDX-License-Identifier: BSD-2-Clause */
/* draft.h: segments on their way into the store (draft.c). */
#ifndef TAMIS_TXN_DRAFT_H
#define TAMIS_TXN_DRAFT_H

#include "file/segment.h"
#include "sizing/fuse.h"
#include "txn/store.h"

/* A segment whose file is in staging/, or not made yet (staged.file.link NULL).  Until it is
 * entered, its header is here alone and may be added to. */
struct tamis__draft {
    struct tamis__segment_header header;
    struct tamis__staged staged;
};

/* The list of segments, oldest first, that shall be the filter `name`. */
struct tamis__entry {
    const char *name;
    struct tamis__draft *drafts;
    uint32_t count;
    uint64_t capacity;
    double fp_rate;
    struct tamis__policy policy;
    /* NULL, or called before the commit, so that an open that fails leaves nothing either; called
     * again with `record` NULL where the commit fails after it. */
    int (*opened)(void *context, struct tamis_store *store, const struct tamis__record *record);
    void *context;
    bool filled; /* with contents: an orphan of these cannot be told from a filter's by looking */
};

/* TAMIS_EEXIST now rather than after allocating gigabytes. */
int tamis__check_absent(struct tamis_store *store, const char *name);
/* A header for what is described: number, filter_id and file_bytes of it are not looked at. */
void tamis__draft_init(const struct tamis_store *store, const char *name,
                       const struct tamis__record_segment *segment, struct tamis__draft *draft);
/* The same for kind fuse: of *segment kind, m, k, words, bit order, and what else follows from the
 * shape are not looked at.  data_checksum is the caller's to set, when there are data. */
void tamis__draft_init_fuse(const struct tamis_store *store, const char *name,
                            const struct tamis__record_segment *segment,
                            const struct tamis__fuse_shape *shape, struct tamis__draft *draft);
/* Make its file, allocated and zero. */
int tamis__draft_stage(struct tamis_store *store, struct tamis__draft *draft);
void tamis__draft_set_policy(struct tamis__draft *draft, const struct tamis__policy *policy);
/* Under the exclusive lock: the number that the next segment gets. */
int tamis__take_segment_number(struct tamis_store *store, struct tamis__store_record *counters,
                               uint64_t *number);
/* Publish all of them in one commit.  On any error nothing of them is left. */
int tamis__drafts_enter(struct tamis_store *store, const struct tamis__entry *entry);
/* Remove what was staged and not entered; harmless on what is not staged. */
void tamis__drafts_discard(struct tamis_store *store, struct tamis__draft *drafts, uint32_t count);

#endif
