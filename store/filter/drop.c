/* SPDX-License-Identifier: BSD-2-Clause */
/* drop.c: drops a filter, or gives it another name. */
#include "filter/points.h"
#include "txn/files.h"
#include "txn/replay.h"
#include "txn/spares.h"
#include "txn/write.h"

TAMIS_API int tamis_filter_drop(tamis_store *store, const char *name)
{
    TAMIS__REFUSE_NULL(store, "store");
    struct tamis__numbers files = {0};
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    int rc = tamis__check_name(name);
    if (rc < 0) return rc;
    rc = tamis__store_begin_write(store, &txn);
    if (rc < 0) return rc;
    rc = tamis__store_get(store, txn, name, &record);
    if (rc == TAMIS_ENOTFOUND) rc = tamis__fail_no_filter(store, name);
    if (rc == 0) rc = tamis__spares_take_back(store, txn, &record, &files);
    if (rc == 0) rc = tamis__forget_all(txn, &record, &files);
    if (rc == 0) rc = tamis__raise_epochs(store, &record);
    if (rc == 0) {
        TAMIS__POINT(TAMIS__POINT_DROP_EPOCH);
        rc = tamis__catalog_commit(txn);
    }
    if (rc == 0) {
        /* The epoch alone does not do: a handle that finds the lock taken by the next writer goes
         * on. */
        (void)tamis__segment_tell(&store->place, record.segments[record.segment_count - 1].number,
                                  offsetof(struct tamis__segment_header, next),
                                  TAMIS__NEXT_DROPPED);
        TAMIS__POINT(TAMIS__POINT_DROP_UNLINK);
        /* Forgets the logs of dead handles; a live handle removes its own. */
        if (record.policy.durable) (void)tamis__logs_forget(store, record.filter_id);
    }
    tamis__catalog_end(txn);
    /* Removing the files may take long.  They are noted as garbage, so the next writer may come
     * first. */
    if (rc == 0) tamis__remove_files(store, &files);
    free(files.list);
    return rc;
}

/* Writes the new name into the segments.  If this fails, the next open for writing does it. */
static void relabel(struct tamis_store *store, const struct tamis__record *record,
                    const struct tamis__numbers *files)
{
    for (size_t i = 0; i < files->count; i++) {
        struct tamis__segment segment;
        if (tamis__segment_open(&store->place, files->list[i], true, &segment) < 0) continue;
        (void)tamis__segment_relabel(&store->place, &segment, record->name_sequence, record->name);
        tamis__segment_close(&segment);
    }
}

static int rename_record(struct tamis_store *store, struct tamis__catalog_txn *txn,
                         struct tamis__record *record, const char *new_name)
{
    struct tamis__numbers files = {0};
    int rc = tamis__list_files(txn, record, &files);
    if (rc == 0) rc = tamis__catalog_forget(txn, record);
    record->name_sequence++;
    (void)snprintf(record->name, sizeof record->name, "%s", new_name);
    if (rc == 0) rc = tamis__catalog_put(txn, record);
    if (rc == 0) rc = tamis__catalog_commit(txn);
    if (rc == 0) {
        TAMIS__POINT(TAMIS__POINT_RENAME_LABEL);
        relabel(store, record, &files);
    }
    free(files.list);
    return rc;
}

TAMIS_API int tamis_filter_rename(tamis_store *store, const char *old_name, const char *new_name)
{
    TAMIS__REFUSE_NULL(store, "store");
    struct tamis__catalog_txn *txn;
    struct tamis__record record, other;
    int rc = tamis__check_name(old_name);
    if (rc == 0) rc = tamis__check_name(new_name);
    if (rc == 0) rc = tamis__store_begin_write(store, &txn);
    if (rc < 0) return rc;
    rc = tamis__store_get(store, txn, old_name, &record);
    if (rc == TAMIS_ENOTFOUND) {
        rc = tamis__fail_no_filter(store, old_name);
    } else if (rc == 0) {
        rc = tamis__catalog_get(txn, new_name, &other);
        if (rc == 0)
            rc = tamis__fail_exists(new_name);
        else if (rc == TAMIS_ENOTFOUND)
            rc = rename_record(store, txn, &record, new_name);
    }
    tamis__catalog_end(txn);
    return rc;
}
