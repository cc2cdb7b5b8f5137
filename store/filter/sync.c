/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sync.c: brings many filters to the disk.
 *
 * First the headers of all segments are read, one pread for each, without the catalog's lock.  A
 * filter is done if its segments are clean, the catalog has their counts, and those that its list
 * has left have checksums.  The others are
 * opened, a group at a time.  Each is brought to the disk as tamis_filter_sync() does it, and one
 * commit brings the counts of the group to the catalog.
 */
#include <stdlib.h>

#include "handle/checkpoint.h"
#include "handle/open.h"
#include "hash/hash_set.h"
#include "kind/kind.h"
#include "segment/live.h"
#include "segment/mark.h"
#include "txn/recover.h"
#include "txn/spares.h"
#include "txn/write.h"

/* So many filters are open at once. */
#define GROUP 64u

/* What the catalog has of a segment. */
struct known {
    uint64_t filter_id, number, items;
    bool in_trouble; /* the filter is unclean, degraded or damaged */
};

struct sync {
    struct tamis_store *store;
    tamis_unsynced_fn *fn;
    void *context;
    struct known *known; /* one filter after the other, each with its newest segment last */
    size_t count, room;
    int64_t failed; /* how many filters are not on the disk; an error, or what fn returned */
    struct tamis__catalog_txn *txn; /* while `known` is collected */
};

/* Tells that a filter is not on the disk.  Returns 0 if the others are to be synced all the same.
 */
static int tell(struct sync *sync, const char *name, int error)
{
    const int rc = sync->fn != NULL ? sync->fn(sync->context, name, error) : error;
    sync->failed = rc != 0 ? rc : sync->failed + 1;
    return rc;
}

/* ---- What is clean --------------------------------------------------------------------------- */

static int collect(void *context, const struct tamis__record *record)
{
    struct sync *sync = context;
    struct tamis__trouble trouble;
    int rc = tamis__catalog_get_trouble(sync->txn, record->filter_id, &trouble);
    for (uint32_t i = 0; rc == 0 && i < record->segment_count; i++) {
        struct known *known = tamis__array_add(&sync->known, &sync->count, &sync->room,
                                               sizeof *known, "syncing filters");
        if (known == NULL) return TAMIS_ENOMEM;
        *known =
            (struct known){.filter_id = record->filter_id,
                           .number = record->segments[i].number,
                           .items = record->segments[i].items,
                           .in_trouble = trouble.unclean_since != 0 ||
                                         trouble.degraded_since != 0 || trouble.damaged_since != 0};
    }
    return rc;
}

static int collect_named(struct sync *sync, const char *const *names, size_t count)
{
    struct tamis__record record;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = tamis__store_get(sync->store, sync->txn, names[i], &record);
        if (rc == TAMIS_ENOTFOUND)
            rc = tell(sync, names[i], tamis__fail_no_filter(sync->store, names[i]));
        else if (rc == 0)
            rc = collect(sync, &record);
    }
    return rc;
}

static int collect_all(struct sync *sync, const char *const *names, size_t count)
{
    int rc = tamis__catalog_begin(&sync->store->catalog, TAMIS__LOCK_SHARED, &sync->txn);
    if (rc < 0) return rc;
    rc = names != NULL ? collect_named(sync, names, count)
                       : tamis__catalog_each(sync->txn, "", collect, sync);
    tamis__catalog_end(sync->txn);
    return rc;
}

/* Has a filter lost room that it gets back when it is opened (txn/recover.h)? */
static bool lacks_room(const struct tamis__segment_header *newest)
{
    const struct tamis__policy policy = tamis__header_policy(newest);
    return tamis__kind_by_id(newest->kind) == NULL ||
           tamis__hash_set_by_id(newest->hash_set) == NULL || tamis__may_regain(&policy, newest);
}

/* Is all of a segment on the disk, and its count in the catalog?  A segment that cannot be read is
 * not: it is opened, and that tells why. */
static bool is_clean(const struct tamis_store *store, const struct known *known, bool newest)
{
    struct tamis__segment_header header;
    if (known->in_trouble || tamis__segment_judge(&store->place, known->number, &header) < 0)
        return false;
    return header.filter_id == known->filter_id && tamis__mark_is_clean(&header.live) &&
           header.live.degraded_since == 0 && header.live.unclean_since == 0 &&
           tamis__header_items(&header) == known->items && !tamis__mark_may_seal(&header) &&
           !(newest && (tamis__next_is_left(header.live.next) || lacks_room(&header)));
}

/* Returns the place behind the filter whose first segment is at `at`, and whether it is clean. */
static size_t look_at_filter(const struct sync *sync, size_t at, bool *clean)
{
    const uint64_t filter_id = sync->known[at].filter_id;
    *clean = true;
    for (; at < sync->count && sync->known[at].filter_id == filter_id; at++) {
        const bool newest = at + 1 == sync->count || sync->known[at + 1].filter_id != filter_id;
        *clean = *clean && is_clean(sync->store, &sync->known[at], newest);
    }
    return at;
}

/* ---- A group --------------------------------------------------------------------------------- */

struct group {
    uint64_t ids[GROUP];
    tamis_filter *filters[GROUP]; /* NULL: dropped meanwhile, or told of */
    uint32_t count;
};

static int open_held(struct sync *sync, struct group *group, struct tamis__catalog_txn *txn)
{
    struct tamis__record record;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < group->count; i++) {
        rc = tamis__store_get_by_id(sync->store, txn, group->ids[i], &record);
        if (rc == TAMIS_ENOTFOUND) {
            rc = 0;
            continue;
        }
        if (rc == 0) rc = tamis__filter_open_record(sync->store, &record, 0, &group->filters[i]);
        if (rc < 0) rc = tell(sync, record.name, rc);
    }
    return rc;
}

static int open_group(struct sync *sync, struct group *group)
{
    struct tamis__catalog_txn *txn;
    int rc = tamis__catalog_begin(&sync->store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    rc = open_held(sync, group, txn);
    tamis__catalog_end(txn);
    for (uint32_t i = 0; rc == 0 && i < group->count; i++) {
        char name[TAMIS_NAME_MAX + 1];
        if (group->filters[i] == NULL) continue;
        memcpy(name, group->filters[i]->name, sizeof name);
        const int up = tamis__filter_come_up(sync->store, &group->filters[i]);
        if (up < 0) rc = tell(sync, name, up);
    }
    return rc;
}

/* Gives a filter back, and tells of it if `error` is one. */
static int let_go(struct sync *sync, tamis_filter **filter, int error)
{
    const int rc = error < 0 ? tell(sync, (*filter)->name, error) : 0;
    tamis_filter_release(*filter);
    *filter = NULL;
    return rc;
}

/* Brings the segments of a group to the disk. */
static int write_group(struct sync *sync, struct group *group)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < group->count; i++) {
        tamis_filter *filter = group->filters[i];
        if (filter == NULL) continue;
        const int written = tamis__filter_write_out(filter);
        if (written == TAMIS_EDROPPED)
            (void)let_go(sync, &group->filters[i], 0);
        else if (written < 0)
            rc = let_go(sync, &group->filters[i], written);
    }
    return rc;
}

static int record_held(struct group *group, struct tamis__catalog_txn *txn, int64_t now)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < group->count; i++) {
        if (group->filters[i] == NULL) continue;
        rc = tamis__record_items_in(group->filters[i], group->filters[i]->view, txn, now);
        if (rc == TAMIS_EDROPPED) rc = 0; /* it has no record that could be wrong */
    }
    return rc;
}

static int record_group(struct sync *sync, struct group *group, int64_t now)
{
    struct tamis__catalog_txn *txn;
    int rc = tamis__store_begin_write(sync->store, &txn);
    if (rc < 0) return rc;
    rc = record_held(group, txn, now);
    if (rc == 0) rc = tamis__catalog_commit(txn);
    tamis__catalog_end(txn);
    return rc;
}

/* The time is taken before the writes: what is added later may not be in them. */
static int sync_group(struct sync *sync, struct group *group)
{
    const int64_t now = tamis__now_ns();
    int rc = open_group(sync, group);
    if (rc == 0) rc = write_group(sync, group);
    const int recorded = rc == 0 ? record_group(sync, group, now) : 0;
    for (uint32_t i = 0; i < group->count; i++) {
        if (group->filters[i] == NULL) continue;
        const int told = let_go(sync, &group->filters[i], rc == 0 ? recorded : 0);
        if (rc == 0) rc = told;
    }
    *group = (struct group){.count = 0};
    return rc;
}

TAMIS_API int64_t tamis_store_sync(tamis_store *store, const char *const *names, size_t count,
                                   tamis_unsynced_fn *fn, void *context)
{
    TAMIS__REFUSE_NULL(store, "store");
    struct sync sync = {.store = store, .fn = fn, .context = context};
    struct group group = {.count = 0};
    bool clean;
    if (store->read_only)
        return tamis__fail(TAMIS_EREADONLY, "the store %s is open read-only; open it for writing",
                           store->place.path);
    int rc = collect_all(&sync, names, count);
    for (size_t next, at = 0; rc == 0 && at < sync.count; at = next) {
        next = look_at_filter(&sync, at, &clean);
        if (!clean) group.ids[group.count++] = sync.known[at].filter_id;
        if (group.count == GROUP) rc = sync_group(&sync, &group);
    }
    if (rc == 0 && group.count > 0) rc = sync_group(&sync, &group);
    free(sync.known);
    return rc != 0 ? rc : sync.failed;
}
