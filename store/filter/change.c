/* SPDX-License-Identifier: BSD-2-Clause */
/* change.c: see change.h. docs/generations.md and docs/concurrency.md give the reasons for this
 * order. */
#include "filter/change.h"

#include "segment/broken.h"
#include "txn/exceptions.h"
#include "txn/spares.h"
#include "txn/write.h"

/* A change gives up after this many tries: others change the filter all the time. */
#define TRIES_MAX 100

/* ---- Before the lock ------------------------------------------------------------------------- */

int tamis__change_load(struct tamis__change *change, const char *name)
{
    struct tamis__catalog_txn *txn;
    struct tamis__exceptions_source source = {.open = false};
    int rc = tamis__catalog_begin(&change->store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    rc = tamis__store_get(change->store, txn, name, &change->before);
    change->is_new = rc == TAMIS_ENOTFOUND;
    if (rc == 0) rc = tamis__exceptions_open(change->store, &change->before, &source);
    tamis__catalog_end(txn);
    if (change->is_new) return tamis__check_new_name(name);
    if (rc == 0) rc = tamis__exceptions_read(change->store, &source, &change->set);
    change->found_before = tamis__exceptions_count_found(&change->set) > 0;
    return rc;
}

int tamis__change_stage(struct tamis__change *change, bool needed)
{
    change->after.exception_count = change->set.count;
    if (!needed && change->set.count == 0) return 0;
    const int rc =
        tamis__exceptions_stage(change->store, &change->set, change->before.name, &change->index);
    change->has_index = rc == 0;
    tamis__exceptions_clear(&change->set); /* frees memory before the wait for others */
    return rc;
}

int tamis__change_lock(struct tamis__change *change)
{
    struct tamis__record now;
    int rc = tamis__store_begin_write(change->store, &change->txn);
    if (rc < 0) {
        change->txn = NULL; /* it is given back already */
        return rc;
    }
    rc = tamis__store_get(change->store, change->txn, change->before.name, &now);
    if (rc == TAMIS_ENOTFOUND) return change->is_new ? 0 : TAMIS__AGAIN;
    if (rc < 0) return rc;
    /* Numbers of files are given out once: the same number means the same exceptions as were
     * read. */
    if (change->is_new || now.filter_id != change->before.filter_id ||
        now.exceptions != change->before.exceptions ||
        (!change->edits && now.generation != change->before.generation))
        return TAMIS__AGAIN;
    change->before = now;
    return tamis__spares_take_back(change->store, change->txn, &change->before, &change->remove);
}

void tamis__change_end(struct tamis__change *change)
{
    tamis__catalog_end(change->txn);
    change->txn = NULL;
    /* Removing a large file takes long.  It is noted as garbage, so the next writer may remove it
     * first. */
    if (change->committed) tamis__remove_files(change->store, &change->remove);
    tamis__segment_discard(&change->store->place, &change->index.staged);
    tamis__exceptions_clear(&change->set);
    free(change->remove.list);
}

uint64_t tamis__change_count(struct tamis_store *store, struct tamis__record *record)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < record->segment_count; i++) {
        struct tamis__segment segment;
        struct tamis__listed_segment *listed = &record->segments[i];
        if (tamis__segment_open(&store->place, listed->number, false, &segment) == 0) {
            const uint64_t items = tamis__segment_items(&segment);
            if (tamis__segment_check(&segment) == 0) listed->items = items;
            tamis__segment_close(&segment);
        } /* else its count is the catalog's */
        all += listed->items;
    }
    return all;
}

/* ---- Under the lock -------------------------------------------------------------------------- */

int tamis__change_commit(struct tamis__change *change)
{
    struct tamis__commit commit = {
        .store = change->store,
        .txn = change->txn,
        .before = change->is_new ? NULL : &change->before,
        .after = &change->after,
        .come = change->list != NULL ? TAMIS__COME_LIST : TAMIS__COME_NOT,
        .drafts = change->list,
        .count = change->list_count,
        .filled = change->list != NULL,
        .index = change->has_index ? &change->index : NULL,
        /* A kept list can be in force again as it was, with the exceptions that its build has
         * found. */
        .keeps_exceptions = change->found_before,
        .comes_back_with = change->comes_back_with,
        .remove = &change->remove,
    };
    const int rc = tamis__commit(&commit);
    change->committed = rc == 0;
    return rc;
}

int tamis__change_tried(const char *name, int rc, unsigned *tries)
{
    if (rc != TAMIS__AGAIN || ++*tries < TRIES_MAX) return rc;
    return tamis__fail(
        TAMIS_ELIMIT,
        "others kept changing the filter '%s' meanwhile; try again when they are done", name);
}
