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

/* Remove what was staged and not entered; harmless on what is not staged. */
void tamis__drafts_discard(struct tamis_store *store, struct tamis__draft *drafts, uint32_t count);

#endif
