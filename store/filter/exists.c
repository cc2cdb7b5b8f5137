/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exists.c: is there a filter of that name?
 *
 * The catalog's pages answer without its lock (catalog/peek.c), so a writer that waits for its disk
 * is not waited for.  Where the catalog is on a network, or a writer is too fast, the lock is
 * taken.
 */
#include "txn/store.h"

static int ask_under_lock(const struct tamis_store *store, const char *name)
{
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    int rc = tamis__catalog_begin(&store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    rc = tamis__catalog_get(txn, name, &record);
    tamis__catalog_end(txn);
    return rc;
}

TAMIS_API int tamis_filter_exists(tamis_store *store, const char *name)
{
    TAMIS__REFUSE_NULL(store, "store");
    int rc = tamis__check_name(name);
    if (rc < 0) return rc;
    rc = store->catalog.stays_open ? tamis__catalog_peek_name(&store->catalog, name)
                                   : TAMIS__PEEK_UNSURE;
    if (rc == TAMIS__PEEK_UNSURE) rc = ask_under_lock(store, name);
    return rc == TAMIS_ENOTFOUND ? 0 : rc < 0 ? rc : 1;
}
