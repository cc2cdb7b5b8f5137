/* SPDX-License-Identifier: BSD-2-Clause */
/* open.h: opens handles for what makes filters, and has them recovered. */
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
