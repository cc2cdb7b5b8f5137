/* SPDX-License-Identifier: BSD-2-Clause */
/* owned.c: says whose a filter is.  The catalog alone knows it, so that no segment changes. */
#include "txn/spares.h"
#include "txn/write.h"

TAMIS_API int tamis_filter_set_owned(tamis_store *store, const char *name, int owned)
{
    TAMIS__REFUSE_NULL(store, "store");
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    int rc = tamis__check_name(name);
    if (rc == 0 && owned != 0 && owned != 1)
        rc = tamis__fail(TAMIS_EINVAL, "owned is %d; pass 0 or 1", owned);
    if (rc == 0) rc = tamis__store_begin_write(store, &txn);
    if (rc < 0) return rc;
    rc = tamis__store_get(store, txn, name, &record);
    if (rc == TAMIS_ENOTFOUND) {
        rc = tamis__fail_no_filter(store, name);
    } else if (rc == 0 && record.owned != (owned != 0)) {
        record.owned = owned != 0;
        rc = tamis__catalog_put(txn, &record);
        if (rc == 0) rc = tamis__catalog_commit(txn);
    }
    tamis__catalog_end(txn);
    return rc;
}
