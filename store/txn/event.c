/* SPDX-License-Identifier: BSD-2-Clause */
/* event.c: see event.h. */
#include "txn/event.h"

TAMIS_API int tamis_store_set_event_callback(tamis_store *store, tamis_event_fn *fn, void *context)
{
    TAMIS__REFUSE_NULL(store, "store");
    store->event_fn = fn;
    store->event_context = context;
    return 0;
}

void tamis__store_tell(const struct tamis_store *store, enum tamis_event_type type,
                       const char *filter, uint32_t segments, int64_t ns)
{
    const struct tamis_event event = {
        .size = sizeof event, .filter = filter, .ns = ns, .type = type, .segments = segments};
    if (store->event_fn != NULL) store->event_fn(store->event_context, &event);
}
