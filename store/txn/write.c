/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * write.c: see write.h.
 *
 * A change is made under the catalog's exclusive lock, in this order: raise the epoch of the
 * segments concerned, so that open handles look at the catalog and wait for the lock; commit the
 * catalog; then remove files.  A crash in between leaves the old state (handles look, and find
 * nothing changed), or the new state with files noted as garbage, which the next writer removes.
 */
#include "txn/write.h"

#include "segment/live.h"
#include "segment/stage.h"
#include "txn/files.h"
#include "txn/recover.h"
#include "txn/spares.h"

/* So much garbage one writer removes. */
#define GARBAGE_A_TIME 64

struct garbage {
    uint64_t numbers[GARBAGE_A_TIME];
    size_t count;
};

static int collect_garbage(void *context, uint64_t number)
{
    struct garbage *garbage = context;
    garbage->numbers[garbage->count++] = number;
    return garbage->count == GARBAGE_A_TIME; /* the rest is left to the next writer */
}

/* The disk frees a file when its last holder closes it, which takes long for a large file (70 ms
 * for 1 GiB).  So this keeps the file open until the lock is given back. */
static void remove_after_lock(struct tamis_store *store, struct tamis__catalog_txn *txn,
                              uint64_t number)
{
    int fd = -1;
    if (tamis__segment_hold(&store->place, number, &fd) == 0) tamis__catalog_close_after(txn, fd);
}

/* Removes garbage.  A file that cannot be removed (another user's, say) stays noted for the next
 * writer. */
static int remove_garbage(struct tamis_store *store, struct tamis__catalog_txn *txn,
                          struct garbage *garbage)
{
    size_t removed = 0;
    for (size_t i = 0; i < garbage->count; i++) {
        const uint64_t number = garbage->numbers[i];
        remove_after_lock(store, txn, number);
        if (tamis__segment_remove(&store->place, number) == 0) garbage->numbers[removed++] = number;
    }
    /* The removal is synced before the numbers are forgotten: otherwise a power cut could bring a
     * file back that nothing notes. */
    int rc = removed > 0 ? tamis__segments_sync_names(&store->place) : 0;
    for (size_t i = 0; rc == 0 && i < removed; i++)
        rc = tamis__catalog_forget_garbage(txn, garbage->numbers[i]);
    return rc;
}

/* Removes the files of a maker that died between its renames and its commit.  They have the numbers
 * that come next. */
static int remove_orphans(struct tamis_store *store, struct tamis__catalog_txn *txn)
{
    const uint64_t next = tamis__catalog_store(txn)->next_segment;
    uint64_t filter_id;
    int rc = 0;
    for (uint64_t number = next; rc >= 0 && number < next + TAMIS__SPARES_MAX; number++)
        rc = tamis__segment_vacate(&store->place, number, &filter_id);
    return rc < 0 ? rc : 0;
}

static int clean(struct tamis_store *store, struct tamis__catalog_txn *txn)
{
    struct garbage garbage = {.count = 0};
    int rc = tamis__catalog_each_garbage(txn, collect_garbage, &garbage);
    if (rc >= 0) rc = remove_garbage(store, txn, &garbage);
    if (rc == 0) rc = remove_orphans(store, txn);
    if (rc == 0) rc = tamis__recover_store(store, txn);
    if (rc < 0) tamis__catalog_end(txn);
    return rc;
}

int tamis__store_begin_write(struct tamis_store *store, struct tamis__catalog_txn **txn)
{
    const int rc = tamis__catalog_begin(&store->catalog, TAMIS__LOCK_EXCLUSIVE, txn);
    return rc < 0 ? rc : clean(store, *txn);
}

int tamis__store_begin_write_if_free(struct tamis_store *store, struct tamis__catalog_txn **txn)
{
    int rc = tamis__catalog_try_begin(&store->catalog, TAMIS__LOCK_EXCLUSIVE, false, txn);
    if (rc <= 0) return rc;
    rc = clean(store, *txn);
    return rc < 0 ? rc : 1;
}

int tamis__raise_epochs(struct tamis_store *store, const struct tamis__record *record)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < record->segment_count; i++)
        rc = tamis__segment_raise_epoch(&store->place, record->segments[i].number);
    return rc;
}

int tamis__recover(struct tamis_store *store, uint64_t filter_id)
{
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    int rc = tamis__store_begin_write(store, &txn);
    if (rc < 0) return rc;
    rc = tamis__store_get_by_id(store, txn, filter_id, &record);
    if (rc == TAMIS_ENOTFOUND)
        rc = 0; /* the filter was dropped: the next call finds that */
    else if (rc == 0) {
        rc = tamis__recover_filter(store, txn, &record);
        if (rc == 0) rc = tamis__recover_room(store, &record);
        if (rc == 0) rc = tamis__catalog_commit(txn);
    }
    tamis__catalog_end(txn);
    return rc;
}
