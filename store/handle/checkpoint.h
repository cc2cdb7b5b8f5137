/* SPDX-License-Identifier: BSD-2-Clause */
/* checkpoint.h: what the disk has of an open filter (docs/durability.md). */
#ifndef TAMIS_HANDLE_CHECKPOINT_H
#define TAMIS_HANDLE_CHECKPOINT_H

#include "handle/view.h"

/* Before the first write to a segment of it: 0, once it is marked on the disk.  May wait for the
 * catalog. */
int tamis__begin_writing(struct tamis_filter *filter, const struct tamis__segment *segment);

/* Record the counts, and what trouble the view's segments have; and the checkpoint's time, unless
 * it is 0 or the list has gone on since `view`, which was written to the disk. */
int tamis__record_items(struct tamis_filter *filter, const struct tamis__view *view,
                        int64_t checkpointed_at);

/* The chore TAMIS__CHORE_MARK, where it is one: after it the newest segment may be written to. */
int tamis__view_mark(struct tamis_filter *filter, struct tamis__view *view);

/* A sync has failed with `rc`: let `list` know, if the catalog can still be written.  Returns `rc`,
 * whose sentence stays the one of this thread. */
int tamis__tell_of_failure(struct tamis_filter *filter, const struct tamis__view *view, int rc);

#endif
