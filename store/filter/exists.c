/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exists.c: is there a filter of that name?
 *
 * The catalog's pages answer without its lock (catalog/peek.c), so a writer that waits for its disk
 * is not waited for.  Where the catalog is on a network, or a writer is too fast, the lock is
 * taken.
 */
#include "txn/enter.h"

TAMIS_API int tamis_filter_exists(tamis_store *store, const char *name)
{
    TAMIS__REFUSE_NULL(store, "store");
    int rc = tamis__check_name(name);
    if (rc < 0) return rc;
    rc = store->catalog.stays_open ? tamis__catalog_peek_name(&store->catalog, name)
                                   : TAMIS__PEEK_UNSURE;
    if (rc == TAMIS__PEEK_UNSURE) rc = tamis__look_up_name(store, name);
    return rc == TAMIS_ENOTFOUND ? 0 : rc < 0 ? rc : 1;
}
