/* SPDX-License-Identifier: BSD-2-Clause */
/* checkpoint.h: brings an open filter to the disk (docs/durability.md). */
#pragma once

#include "handle/view.h"

/* Marks a segment on the disk before its first write; 0 once it is marked.  May wait for the
 * catalog. */
int tamis__begin_writing(struct tamis_filter *filter, const struct tamis__segment *segment);

/* The same for a call that writes into a segment which need not be the newest.  Once it has
 * returned 0, the caller ends the change when it has written. */
int tamis__begin_change(struct tamis_filter *filter, const struct tamis__segment *segment);
void tamis__end_change(const struct tamis__segment *segment);

/* Records the counts and the trouble of the view's segments.  Records the checkpoint's time too,
 * unless it is 0 or the list has gone on since `view`, which was written to the disk. */
int tamis__record_items(struct tamis_filter *filter, const struct tamis__view *view,
                        int64_t checkpointed_at);

/* The same within a transaction, which the caller commits. */
int tamis__record_items_in(struct tamis_filter *filter, const struct tamis__view *view,
                           struct tamis__catalog_txn *txn, int64_t checkpointed_at);

/* Brings all segments of the list in force to the disk; the catalog is not told, unless that
 * fails. */
int tamis__filter_write_out(struct tamis_filter *filter);

/* Does the chore TAMIS__CHORE_MARK if it is due.  After that the newest segment may be written
 * to. */
int tamis__view_mark(struct tamis_filter *filter, struct tamis__view *view);

/* Notes in the catalog that a sync has failed with `rc`, if the catalog can still be written, so
 * that a listing shows it.  Returns `rc` and keeps its sentence. */
int tamis__tell_of_failure(struct tamis_filter *filter, const struct tamis__view *view, int rc);
