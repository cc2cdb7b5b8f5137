/* SPDX-License-Identifier: BSD-2-Clause */
/* open.c: opens a handle, has a filter recovered after a crash, and closes the handle, which brings
 * its counts to the catalog. */
#include "handle/open.h"

#include <assert.h>

#include "handle/checkpoint.h"
#include "handle/follow.h"
#include "handle/fork.h"
#include "handle/journal.h"
#include "handle/pages.h"
#include "handle/sync_interval.h"
#include "segment/mark.h"
#include "txn/event.h"
#include "txn/recover.h"
#include "txn/replay.h"
#include "txn/spares.h"
#include "txn/store.h"
#include "txn/write.h"

/* ---- Opening and closing --------------------------------------------------------------------- */

/* Frees a handle, whose counts and log the caller has dealt with. */
static void filter_free(struct tamis_filter *filter)
{
    tamis__handles_leave(filter);
    tamis__journal_free(filter);
    tamis__view_free(filter->view);
    tamis__view_reclaim(filter);
    tamis_store_close(filter->store);
    free((void *)(uintptr_t)filter->rule);
    free(filter);
}

/* A filter has one key rule for life. */
static int take_key_rule(struct tamis_filter *filter, const struct tamis__policy *policy)
{
    if (policy->key_rule[0] == '\0') return 0;
    struct tamis__key_rule *rule = malloc(sizeof *rule);
    if (rule == NULL)
        return tamis__fail(TAMIS_ENOMEM, "out of memory opening the filter '%s'", filter->name);
    filter->rule = rule;
    return tamis__key_rule_open(filter->name, policy->key_rule, rule);
}

int tamis__filter_open_record(struct tamis_store *store, const struct tamis__record *record,
                              unsigned how, tamis_filter **out)
{
    const bool read_only = (how & TAMIS__VIEW_READ_ONLY) != 0;
    struct tamis_filter *filter = calloc(1, sizeof *filter);
    if (filter == NULL)
        return tamis__fail(TAMIS_ENOMEM, "out of memory opening the filter '%s'", record->name);
    filter->store = tamis__store_reference(store);
    memcpy(filter->name, record->name, sizeof filter->name);
    filter->filter_id = record->filter_id;
    filter->created_at = record->created_at;
    filter->read_only = read_only;
    int rc = take_key_rule(filter, &record->policy);
    if (rc == 0) rc = tamis__view_make(store, record, how, NULL, &filter->view);
    if (rc < 0) {
        filter_free(filter);
        return rc;
    }
    for (uint32_t i = 0; i < record->segment_count; i++)
        filter->recorded_items += record->segments[i].items;
    if (!read_only) tamis__handles_enter(filter);
    *out = filter;
    return 0;
}

int tamis__open_entered(void *context, struct tamis_store *store,
                        const struct tamis__record *record)
{
    tamis_filter **filter = context;
    if (record != NULL) return tamis__filter_open_record(store, record, 0, filter);
    tamis_filter_release(*filter); /* its counts are those of the record */
    *filter = NULL;
    return 0;
}

/* What a call opens. */
struct wanted {
    const char *name;
    unsigned flags;
    tamis_filter *filter;
};

static bool is_read_only(const struct tamis_store *store, const struct wanted *wanted)
{
    return store->read_only || (wanted->flags & TAMIS_OPEN_READ_ONLY) != 0;
}

static unsigned how_wanted(const struct tamis_store *store, const struct wanted *wanted)
{
    return is_read_only(store, wanted) ? TAMIS__VIEW_READ_ONLY : 0;
}

/* Opens under the catalog's lock, so that no drop can take the files away in between.  For struct
 * tamis__opening. */
static int open_locked(void *context, struct tamis_store *store, struct tamis__catalog_txn *txn)
{
    struct wanted *wanted = context;
    struct tamis__record record;
    const int rc = tamis__store_get(store, txn, wanted->name, &record);
    if (rc == TAMIS_ENOTFOUND) return tamis__fail_no_filter(store, wanted->name);
    if (rc < 0) return rc;
    return tamis__filter_open_record(store, &record, how_wanted(store, wanted), &wanted->filter);
}

/* How often a list may be replaced while its files are being mapped, before the lock is waited for.
 */
#define PEEKS_MAX 3

/*
 * Opens while somebody else has the catalog's lock, who may be waiting for the disk.  The record
 * was in force when it was read.  Its files may be gone by now: then it is read once more.  The
 * view is one as follow.c makes without the lock, and the next call looks at the catalog.  Returns
 * 1 if opened; 0 if only the lock can tell; or an error.
 */
static int open_peeked(struct tamis_store *store, struct wanted *wanted)
{
    const unsigned how = how_wanted(store, wanted) | TAMIS__VIEW_UNLOCKED;
    struct tamis__record record;
    for (int i = 0; i < PEEKS_MAX; i++) {
        int rc = tamis__store_peek_named(store, wanted->name, &record);
        if (rc == TAMIS_ENOTFOUND) return tamis__fail_no_filter(store, wanted->name);
        if (rc == 0) rc = tamis__filter_open_record(store, &record, how, &wanted->filter);
        if (rc == 0) return 1;
    }
    return 0;
}

static int open_by_name(struct tamis_store *store, struct wanted *wanted)
{
    struct tamis__catalog_txn *txn;
    const bool waits = !store->catalog.stays_open;
    int rc = tamis__catalog_try_begin(&store->catalog, TAMIS__LOCK_SHARED, waits, &txn);
    if (rc == 0) {
        rc = open_peeked(store, wanted);
        if (rc != 0) return rc < 0 ? rc : 0;
        rc = tamis__catalog_begin(&store->catalog, TAMIS__LOCK_SHARED, &txn);
    }
    if (rc < 0) return rc;
    rc = open_locked(wanted, store, txn);
    tamis__catalog_end(txn);
    return rc;
}

/* Some keys may be only in logs, and would seem absent.  So a handle that may write is opened to
 * replay them. */
static int recover_for_reader(const struct tamis_store *reader, const char *name,
                              const struct tamis_filter *filter)
{
    tamis_store *store = NULL;
    tamis_filter *writer = NULL;
    int rc = tamis_store_open(reader->place.path, 0, &store);
    if (rc == 0) rc = tamis_filter_open(store, name, 0, &writer);
    if (rc == 0) rc = tamis_filter_close(writer);
    tamis_store_close(store);
    if (rc == 0 && !tamis__view_is_stale(filter->view)) return 0;
    return tamis__fail(
        TAMIS_EREADONLY,
        "the filter '%s' of the store %s is durable, and keys that were added before "
        "the machine went down are in its logs, which may not be read back here; "
        "have it opened for writing once ('tamis sync')",
        filter->name, reader->place.path);
}

static int replay_logs(struct tamis_store *store, uint64_t filter_id,
                       const struct tamis__view *view)
{
    uint64_t numbers[TAMIS__SEGMENTS_MAX];
    for (uint32_t i = 0; i < view->count; i++)
        numbers[i] = view->segments[i].segment.header->number;
    const int rc = tamis__logs_replay(store, filter_id, numbers, view->count);
    return rc == TAMIS__LOGS_DAMAGED ? tamis__recover(store, filter_id) : rc;
}

int tamis__filter_come_up(struct tamis_store *store, tamis_filter **filter)
{
    const struct tamis__view *view = (*filter)->view;
    const bool waits_for_room =
        tamis__may_regain(&view->policy, tamis__newest(view)->segment.header);
    int rc = tamis__view_is_stale(view) || waits_for_room
                 ? tamis__recover(store, (*filter)->filter_id)
                 : 0;
    if (rc == 0 && view->policy.durable) rc = replay_logs(store, (*filter)->filter_id, view);
    if (rc >= 0) return 0;
    filter_free(*filter);
    *filter = NULL;
    return rc;
}

static int check_wanted(const struct wanted *wanted)
{
    const unsigned known = TAMIS_OPEN_READ_ONLY | TAMIS_OPEN_NO_SYNC | TAMIS_OPEN_POPULATE;
    if ((wanted->flags & ~known) == 0) return tamis__check_name(wanted->name);
    return tamis__fail(
        TAMIS_EINVAL,
        "tamis_filter_open flags %#x: use 0, TAMIS_OPEN_READ_ONLY, TAMIS_OPEN_NO_SYNC or "
        "TAMIS_OPEN_POPULATE",
        wanted->flags);
}

static void tell_of_trouble(const struct tamis_filter *filter)
{
    const struct tamis__trouble trouble = tamis__view_trouble(filter->view);
    if (trouble.unclean_since != 0)
        tamis__store_tell(filter->store, TAMIS_EVENT_UNCLEAN, filter->name, filter->view->count,
                          trouble.unclean_since);
}

/* Ends an open: does what takes long, or takes the catalog's lock itself.  The caller has given
 * that lock back. */
static int finish_open(struct tamis_store *store, struct wanted *wanted)
{
    tamis_filter *filter = wanted->filter;
    int rc = 0;
    assert(filter != NULL);
    filter->no_sync = (wanted->flags & TAMIS_OPEN_NO_SYNC) != 0;
    filter->populate = (wanted->flags & TAMIS_OPEN_POPULATE) != 0;
    if (!is_read_only(store, wanted)) {
        rc = tamis__filter_come_up(store, &wanted->filter);
        if (rc < 0) return rc;
    } else if (filter->view->policy.durable && tamis__view_is_stale(filter->view)) {
        rc = recover_for_reader(store, wanted->name, filter);
    }
    if (rc == 0 && filter->populate) rc = tamis__view_populate(filter->view);
    if (rc == 0) tell_of_trouble(filter);
    if (rc < 0) filter_free(filter);
    return rc;
}

TAMIS_API int tamis_filter_open(tamis_store *store, const char *name, uint32_t flags,
                                tamis_filter **filter)
{
    TAMIS__REFUSE_NULL(store, "store");
    TAMIS__REFUSE_NULL(filter, "filter");
    struct wanted wanted = {name, flags, NULL};
    *filter = NULL;
    int rc = check_wanted(&wanted);
    if (rc == 0) rc = open_by_name(store, &wanted);
    if (rc == 0) rc = finish_open(store, &wanted);
    if (rc == 0) *filter = wanted.filter;
    return rc;
}

TAMIS_API int tamis_filter_open_at(const char *path, const struct tamis_store_options *options,
                                   const char *name, uint32_t flags, tamis_filter **filter)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    struct wanted wanted = {name, flags, NULL};
    const struct tamis__opening opening = {path, open_locked, &wanted};
    tamis_store *store = NULL;
    *filter = NULL;
    int rc = check_wanted(&wanted);
    if (rc == 0) rc = tamis__store_open(&opening, options, &store);
    if (rc < 0) return rc;
    rc = finish_open(store, &wanted);
    if (rc == 0) *filter = wanted.filter;
    tamis_store_close(store); /* the handle keeps it open */
    return rc;
}

TAMIS_API tamis_store *tamis_filter_store(tamis_filter *filter)
{
    return filter == NULL ? NULL : filter->store;
}

TAMIS_API int64_t tamis_filter_created_at(const tamis_filter *filter)
{
    return filter == NULL ? 0 : filter->created_at;
}

/* Brings each segment to the disk whose last writer this process was.  Returns 1 if it was one's
 * last writer and the whole filter is on the disk now. */
static int leave_segments(const struct tamis__view *view)
{
    bool left = false, whole = true;
    int rc = 0;
    for (uint32_t i = 0; i < view->count; i++) {
        const struct tamis__segment *segment = &view->segments[i].segment;
        if (tamis__mark_is_writer(segment) ||
            (tamis__mark_was_writer(segment) && !tamis__mark_is_clean(segment->live))) {
            const int one = tamis__mark_leave(segment);
            if (rc >= 0 && one < 0) rc = one;
            left = true;
        }
        whole = whole && tamis__mark_is_clean(segment->live);
    }
    return rc < 0 ? rc : left && whole;
}

static bool is_dropped(const struct tamis_filter *filter)
{
    /* ORDER relaxed: the word is only ever set. */
    return __atomic_load_n(&filter->dropped, __ATOMIC_RELAXED) ||
           tamis__segment_next(&tamis__newest(filter->view)->segment) == TAMIS__NEXT_DROPPED;
}

/* A handle with a log goes to the list in force.  Else one that has not followed its filter's
 * growth does not notice that the filter was dropped, and leaves the log. */
static void go_on_for_log(tamis_filter *filter)
{
    struct tamis__view *view;
    if (filter->journal != NULL && !filter->read_only && tamis__visit(filter, &view) == 0)
        tamis__leave(filter, view);
}

TAMIS_API int tamis_filter_close(tamis_filter *filter)
{
    if (filter == NULL) return 0;
    tamis__interval_end(filter);
    go_on_for_log(filter);
    const int64_t now = tamis__now_ns();
    struct tamis__view *view = filter->view;
    int rc = tamis__view_check(view);
    if (rc == 0 && !filter->read_only && !is_dropped(filter)) {
        if (!filter->no_sync) {
            rc = leave_segments(view);
            if (rc > 0) tamis__view_calm_pages(view);
            const int closed = rc < 0 ? 0 : tamis__journal_close(filter, rc > 0);
            if (closed < 0) rc = closed;
        }
        /* ORDER relaxed: see tamis__record_items. */
        const bool changed =
            tamis__view_items(view) != __atomic_load_n(&filter->recorded_items, __ATOMIC_RELAXED);
        if (rc < 0)
            rc = tamis__tell_of_failure(filter, view, rc);
        else if (changed || rc > 0)
            rc = tamis__record_items(filter, view, rc > 0 ? now : 0);
    }
    if (is_dropped(filter)) tamis__journal_forget(filter);
    if (rc == TAMIS_EDROPPED) rc = 0; /* the catalog has no entry that could be wrong */
    filter_free(filter);
    return rc;
}

TAMIS_API void tamis_filter_release(tamis_filter *filter)
{
    if (filter == NULL) return;
    tamis__interval_end(filter);
    go_on_for_log(filter);
    if (!filter->read_only && is_dropped(filter)) tamis__journal_forget(filter);
    filter_free(filter);
}
