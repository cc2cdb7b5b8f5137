/* SPDX-License-Identifier: BSD-2-Clause */
/* open.h: opens and frees handles (open.c). */
#pragma once

#include "handle/view.h"

/* Opens a handle on the filter of a record.  The caller holds the catalog's lock. */
int tamis__filter_open_record(struct tamis_store *store, const struct tamis__record *record,
                              bool read_only, tamis_filter **filter);

/* Must follow for a handle that may write, without the lock: recovers what the machine or other
 * handles left when they went down.  If that fails, the handle is freed. */
int tamis__filter_come_up(struct tamis_store *store, tamis_filter **filter);

/* For struct tamis__commit, whose context is a `tamis_filter **`: opens the filter that is being
 * made, or closes it again if `record` is NULL. */
int tamis__open_entered(void *context, struct tamis_store *store,
                        const struct tamis__record *record);
