/* SPDX-License-Identifier: BSD-2-Clause */
/* event.h: tells the program of what happens to its filters (tamis_store_set_event_callback()). */
#pragma once

#include "txn/store.h"

/* Calls the program's function, if it has set one.  `segments` and `ns` are those of struct
 * tamis_event. */
void tamis__store_tell(const struct tamis_store *store, enum tamis_event_type type,
                       const char *filter, uint32_t segments, int64_t ns);
