/* SPDX-License-Identifier: BSD-2-Clause */
/* open.h: opens and frees handles (open.c), and what goes with them: their place in the list for
 * fork() (fork.c), and the thread of one that makes checkpoints by itself (sync_interval.c). */
#pragma once

#include "handle/view.h"

/* Opens a handle on the filter of a record.  `how` is that of its view (view.h); without
 * TAMIS__VIEW_UNLOCKED the caller holds the catalog's lock. */
int tamis__filter_open_record(struct tamis_store *store, const struct tamis__record *record,
                              unsigned how, tamis_filter **filter);

/* Must be called next for a handle that may write, without the catalog's lock.  Recovers what the
 * machine or other handles left when they went down.  If that fails, the handle is freed. */
int tamis__filter_come_up(struct tamis_store *store, tamis_filter **filter);

/* For struct tamis__commit, whose context is a `tamis_filter **`: opens the filter that is being
 * made, or closes it again if `record` is NULL. */
int tamis__open_entered(void *context, struct tamis_store *store,
                        const struct tamis__record *record);

/* Enters a handle that may write: in a child it is another writer.  Undone by
 * tamis__handles_leave(), which may be called for a handle that never entered. */
void tamis__handles_enter(struct tamis_filter *filter);
void tamis__handles_leave(struct tamis_filter *filter);

/* Ends the thread that makes checkpoints. */
void tamis__interval_end(struct tamis_filter *filter);
/* Forgets the thread, in the child of a fork(), which does not have it. */
void tamis__interval_forget(struct tamis_filter *filter);
