/* SPDX-License-Identifier: BSD-2-Clause */
/* draft.h: drafts: segments on their way into the store. txn/commit.h puts them in force. */
#pragma once

#include "segment/stage.h"
#include "sizing/fuse.h"
#include "txn/store.h"

/* A segment whose file is in staging/, or is not made yet (then staged.file is not open).  Until
 * it is entered, only its maker knows its header and may add to it. */
struct tamis__draft {
    struct tamis__segment_header header;
    struct tamis__staged staged;
};

/* Makes a header from *segment.  Its number, filter_id and file_bytes are not used.  `store` NULL:
 * it is for no store, and nothing is made of it. */
void tamis__draft_init(const struct tamis_store *store, const char *name,
                       const struct tamis__listed_segment *segment, struct tamis__draft *draft);
/* As tamis__draft_init(), for the kind fuse.  Of *segment, the kind, m, k, words, bit order and all
 * that follows from the shape are not used.  If there are data, the caller sets data_checksum. */
void tamis__draft_init_fuse(const struct tamis_store *store, const char *name,
                            const struct tamis__listed_segment *segment,
                            const struct tamis__fuse_shape *shape, struct tamis__draft *draft);
/* Makes the file of a draft, allocated and zero. */
int tamis__draft_stage(struct tamis_store *store, struct tamis__draft *draft);
/* The same for the further ones of many drafts (tamis__segment_stage_more()). */
int tamis__draft_stage_more(struct tamis_store *store, struct tamis__draft *draft);
void tamis__draft_set_policy(struct tamis__draft *draft, const struct tamis__policy *policy);

/* Removes the drafts that were staged and not entered.  Does nothing for one that is not staged. */
void tamis__drafts_discard(struct tamis_store *store, struct tamis__draft *drafts, uint32_t count);
