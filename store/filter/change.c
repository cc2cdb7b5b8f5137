/* SPDX-License-Identifier: BSD-2-Clause */
/* change.c: see change.h; why it is in this order is in docs/generations.md and
 * docs/concurrency.md. */
#include "filter/change.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/point.h"
#include "txn/exceptions.h"
#include "txn/recover.h"
#include "txn/spares.h"
#include "txn/write.h"

/* Others that change it all the time: give up after so many tries. */
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
    if (change->is_new) return 0;
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
    tamis__exceptions_clear(
        &change->set); /* memory that nobody needs while others are waited for */
    return rc;
}

int tamis__change_lock(struct tamis__change *change)
{
    struct tamis__record now;
    int rc = tamis__store_begin_write(change->store, &change->txn);
    if (rc < 0) {
        change->txn = NULL; /* given back already */
        return rc;
    }
    rc = tamis__store_get(change->store, change->txn, change->before.name, &now);
    if (rc == TAMIS_ENOTFOUND) return change->is_new ? 0 : TAMIS__AGAIN;
    if (rc < 0) return rc;
    /* Numbers of files are given out once: the same number means the same exceptions as were read.
     * */
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
    /* A large file takes long to remove.  It is noted as garbage, and the next writer may come
     * first. */
    if (change->committed) tamis__remove_files(change->store, &change->remove);
    tamis__segment_discard(&change->store->place, &change->index.staged);
    tamis__exceptions_clear(&change->set);
    free(change->remove.list);
}

void tamis__change_count(struct tamis__change *change)
{
    struct tamis__record *record = &change->before;
    for (uint32_t i = 0; i < record->segment_count; i++) {
        struct tamis__segment segment;
        if (tamis__segment_open(&change->store->place, record->segments[i].number, false,
                                &segment) < 0)
            continue; /* as the catalog has them */
        const uint64_t items = tamis__segment_items(&segment);
        if (tamis__segment_check(&segment) == 0) record->segments[i].items = items;
        tamis__segment_close(&segment);
    }
}

/* ---- Under the lock -------------------------------------------------------------------------- */

/*
 * A number for each new file, noted as garbage in a commit of its own: until the last commit takes
 * it off that list the file belongs to nobody, and the next writer removes what a maker that died
 * has left.
 */
static int reserve(struct tamis__change *change)
{
    struct tamis__draft *drafts[] = {change->list, change->has_index ? &change->index : NULL};
    struct tamis__store_record *counters = tamis__catalog_store(change->txn);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < 2; i++) {
        if (drafts[i] == NULL) continue;
        uint64_t *number = &drafts[i]->header.number;
        rc = tamis__take_segment_number(change->store, counters, number);
        if (rc == 0) rc = tamis__catalog_put_garbage(change->txn, *number);
    }
    if (rc == 0 && change->is_new) change->after.filter_id = counters->next_filter_id++;
    return rc == 0 ? tamis__catalog_commit_part(change->txn) : rc;
}

static int publish_file(struct tamis__change *change, struct tamis__draft *draft)
{
    struct tamis__segment_header *header = &draft->header;
    const struct tamis__record *after = &change->after;
    header->filter_id = after->filter_id;
    header->generation = after->generation;
    header->publication = after->publication;
    header->keep = after->keep;
    memcpy(header->key_digest, after->key_digest, sizeof header->key_digest);
    tamis__draft_set_policy(draft, &after->policy);
    tamis__label_write(&header->labels[0], after->name_sequence, after->name);
    return tamis__segment_publish(&change->store->place, &draft->staged, header);
}

static int publish_files(struct tamis__change *change)
{
    struct tamis__record *after = &change->after;
    int rc = 0;
    if (change->has_index) {
        rc = publish_file(change, &change->index);
        after->exceptions = change->index.header.number;
    }
    if (rc < 0 || change->list == NULL) return rc;
    struct tamis__segment_header *header = &change->list->header;
    header->list_start = 1;
    header->in_force = after->publication;
    header->exceptions = after->exceptions;
    rc = publish_file(change, change->list);
    after->segment_count = 1;
    tamis__record_segment_from_header(header, &after->segments[0]);
    after->segments[0].items = tamis__header_items(header);
    return rc;
}

/* The list that was in force becomes one that is kept; of one that comes back the catalog forgets
 * that it was. */
static int keep_list(struct tamis__change *change, bool with_exceptions)
{
    struct tamis__catalog_txn *txn = change->txn;
    const uint64_t id = change->after.filter_id;
    struct tamis__record old = change->before;
    if (!with_exceptions) old.exceptions = old.exception_count = 0;
    int rc = tamis__catalog_put_generation(txn, &old);
    if (rc == 0 && change->comes_back_with != 0)
        rc = tamis__remove_later(txn, &change->remove, change->comes_back_with);
    if (rc == 0) rc = tamis__catalog_forget_generation(txn, id, change->after.generation);
    return rc < 0 ? rc : tamis__generations_trim(txn, id, change->after.keep, &change->remove);
}

/* What the catalog has of it from now on. */
static int write_catalog(struct tamis__change *change)
{
    struct tamis__catalog_txn *txn = change->txn;
    const struct tamis__record *before = &change->before, *after = &change->after;
    const uint64_t id = after->filter_id;
    int rc = 0;
    const bool leaves = !change->is_new && after->generation != before->generation;
    /* With what its build has found a list that is kept can be in force again as it was. */
    const bool keeps = leaves && change->found_before;
    if (!change->is_new && before->exceptions != 0 && !keeps)
        rc = tamis__remove_later(txn, &change->remove, before->exceptions);
    if (rc == 0 && leaves) rc = keep_list(change, keeps);
    if (rc == 0 && change->list != NULL)
        rc = tamis__catalog_forget_garbage(txn, change->list->header.number);
    if (rc == 0 && change->has_index)
        rc = tamis__catalog_forget_garbage(txn, change->index.header.number);
    if (rc < 0) return rc;
    /* A new list begins clean; one that comes back may have been written to when the machine went
     * down. */
    rc = change->list != NULL
             ? tamis__catalog_put_trouble(txn, id, (struct tamis__trouble){.unclean_since = 0})
             : tamis__recover_filter(change->store, txn, after);
    return rc < 0 ? rc : tamis__catalog_put(txn, after);
}

/* What handles are led on by that do not look at the catalog; where it fails, they do.  A handle
 * that reads in_force finds the exceptions of that publication, or later ones: so these are told
 * first. */
static void tell(const struct tamis__change *change)
{
    const struct tamis__place *place = &change->store->place;
    const uint64_t newest = tamis__record_newest(&change->after)->number;
    const bool same = change->after.generation == change->before.generation;
    if (change->list == NULL) { /* in force again: what once came after it does so no more */
        (void)tamis__segment_stay(place, newest);
        (void)tamis__segment_tell(place, newest, offsetof(struct tamis__segment_header, exceptions),
                                  change->after.exceptions);
        (void)tamis__segment_tell(place, newest, offsetof(struct tamis__segment_header, in_force),
                                  change->after.publication);
    }
    if (change->is_new || same) return;
    /* The first of the list, never one behind it: a handle would put that behind a list of its own.
     * */
    (void)tamis__segment_tell(place, tamis__record_newest(&change->before)->number,
                              offsetof(struct tamis__segment_header, next),
                              change->after.segments[0].number);
}

int tamis__change_commit(struct tamis__change *change)
{
    struct tamis_store *store = change->store;
    change->after.publication = change->is_new ? 1 : change->before.publication + 1;
    int rc = reserve(change);
    if (rc == 0) rc = publish_files(change);
    if (rc == 0) rc = write_catalog(change);
    if (rc == 0 && !change->is_new) rc = tamis__raise_epochs(store, &change->before);
    if (rc == 0) {
        TAMIS__POINT(TAMIS__POINT_PUBLISH_EPOCH);
        rc = tamis__catalog_commit(change->txn);
    }
    if (rc < 0) { /* what fails here is garbage in the catalog */
        if (change->list != NULL && change->list->staged.file.link == NULL)
            (void)tamis__segment_remove(&store->place, change->list->header.number);
        if (change->has_index && change->index.staged.file.link == NULL)
            (void)tamis__segment_remove(&store->place, change->index.header.number);
        return rc;
    }
    tell(change);
    TAMIS__POINT(TAMIS__POINT_PUBLISH_TOLD);
    change->committed = true;
    return 0;
}

int tamis__change_try(const char *name, tamis__change_fn *fn, void *context)
{
    int rc = TAMIS__AGAIN;
    for (int i = 0; rc == TAMIS__AGAIN && i < TRIES_MAX; i++)
        rc = fn(context);
    if (rc != TAMIS__AGAIN) return rc;
    return tamis__fail(
        TAMIS_ELIMIT,
        "others kept changing the filter '%s' meanwhile; try again when they are done", name);
}
