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

#include "txn/files.h"
#include "txn/recover.h"
#include "txn/spares.h"

/* So much garbage one writer removes; to unlink a file takes much longer than to mark a sheet. */
#define FILES_A_TIME 64
#define GARBAGE_A_TIME 1024

struct garbage {
    uint64_t numbers[GARBAGE_A_TIME];
    size_t count, files;
};

static int collect_garbage(void *context, uint64_t number)
{
    struct garbage *garbage = context;
    garbage->files += !tamis__is_sheet(number);
    garbage->numbers[garbage->count++] = number;
    /* The rest is left to the next writer. */
    return garbage->count == GARBAGE_A_TIME || garbage->files == FILES_A_TIME;
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
    struct tamis__hand hand = {.place = &store->place};
    size_t removed = 0;
    for (size_t i = 0; i < garbage->count; i++) {
        const uint64_t number = garbage->numbers[i];
        if (!tamis__is_sheet(number)) remove_after_lock(store, txn, number);
        if (tamis__remove_file(&hand, number) == 0) garbage->numbers[removed++] = number;
    }
    tamis__hand_close(&hand);
    /* The removal is synced before the numbers are forgotten: otherwise a power cut could bring a
     * file back that nothing notes. */
    int rc = removed > 0 ? tamis__sync_removal(&store->place, garbage->numbers, removed) : 0;
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

static int raise_epoch_of_sheet(struct tamis__hand *hand, uint64_t number)
{
    struct tamis__live *live;
    const int rc = tamis__hand_live(hand, number, &live);
    if (rc < 0 || live == NULL) return rc;
    /* ORDER release: pairs with tamis__segment_epoch; see there. */
    (void)__atomic_add_fetch(&live->epoch, 1, __ATOMIC_RELEASE);
    return 0;
}

int tamis__raise_epochs_by(struct tamis__hand *hand, const struct tamis__record *record)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < record->segment_count; i++) {
        const uint64_t number = record->segments[i].number;
        rc = tamis__is_sheet(number) ? raise_epoch_of_sheet(hand, number)
                                     : tamis__segment_raise_epoch(hand->place, number);
    }
    return rc;
}

int tamis__raise_epochs(struct tamis_store *store, const struct tamis__record *record)
{
    struct tamis__hand hand = {.place = &store->place};
    const int rc = tamis__raise_epochs_by(&hand, record);
    tamis__hand_close(&hand);
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
