/* SPDX-License-Identifier: BSD-2-Clause */
/* list.c: lists the filters of a store, as the catalog knows them. */
#include "filter/stat.h"
#include "txn/recover.h"
#include "txn/spares.h"

struct listing {
    struct tamis_store *store;
    struct tamis__catalog_txn *txn;
    bool looks; /* reads the headers: no writer has recovered since the boot */
    struct tamis_filter_stat *stats;
    size_t count, room;
};

static int list_one(void *context, const struct tamis__record *record)
{
    struct listing *listing = context;
    struct tamis_filter_stat *stat = tamis__array_add(
        &listing->stats, &listing->count, &listing->room, sizeof *stat, "listing the filters");
    if (stat == NULL) return TAMIS_ENOMEM;
    struct tamis__trouble trouble;
    const int rc = tamis__catalog_get_trouble(listing->txn, record->filter_id, &trouble);
    if (rc < 0) return rc;
    struct tamis__record now = *record;
    tamis__record_promote(&listing->store->place, &now);
    if (listing->looks) (void)tamis__look_for_trouble(listing->store, &now, &trouble);
    tamis__stat_from_record(listing->store, &now, NULL, stat);
    tamis__stat_set_trouble(stat, trouble);
    return 0;
}

TAMIS_API int tamis_store_list(tamis_store *store, const char *prefix, tamis_list_fn *fn,
                               void *context)
{
    TAMIS__REFUSE_NULL(store, "store");
    TAMIS__REFUSE_NULL(fn, "fn");
    struct tamis__catalog_txn *txn;
    struct listing listing = {.store = store};
    int rc = tamis__catalog_begin(&store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    uint8_t boot[TAMIS__BOOT_ID_BYTES];
    listing.txn = txn;
    listing.looks = tamis__boot_id(boot) && tamis__catalog_is_of_boot(txn, boot) == 0;
    rc = tamis__catalog_each(txn, prefix ? prefix : "", list_one, &listing);
    tamis__catalog_end(txn); /* before fn, which may be slow: others wait for the lock */
    for (size_t i = 0; rc == 0 && i < listing.count; i++)
        rc = fn(context, &listing.stats[i]);
    free(listing.stats);
    return rc;
}
