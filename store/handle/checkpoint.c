/* SPDX-License-Identifier: BSD-2-Clause */
/* checkpoint.c: brings what was added to the disk, by a sync or when the last handle that wrote is
 * closed. docs/durability.md has the protocol, segment/mark.c its steps in a segment. */
#include "handle/checkpoint.h"

#include "handle/follow.h"
#include "segment/mark.h"
#include "segment/pages.h"
#include "txn/event.h"
#include "txn/recover.h"
#include "txn/spares.h"
#include "txn/write.h"

/* ---- A writer begins ------------------------------------------------------------------------- */

int tamis__begin_writing(struct tamis_filter *filter, const struct tamis__segment *segment)
{
    int rc = tamis__mark_begin(segment, false);
    if (rc != TAMIS__MARK_STALE) return rc;
    rc = tamis__recover(filter->store, filter->filter_id);
    return rc < 0 ? rc : tamis__mark_begin(segment, true);
}

int tamis__begin_change(struct tamis_filter *filter, const struct tamis__segment *segment)
{
    tamis__mark_begin_change(segment);
    const int rc = tamis__begin_writing(filter, segment);
    if (rc < 0) tamis__mark_end_change(segment);
    return rc;
}

void tamis__end_change(const struct tamis__segment *segment)
{
    tamis__mark_end_change(segment);
}

/* ---- The catalog's part ---------------------------------------------------------------------- */

/*
 * Where the catalog knew of more items than a segment counts, keys are gone: the file was replaced
 * by an older copy, or a power cut took them.  The record loses its counts now, so the filter
 * becomes unclean in the same commit.
 */
static int note_missing(const struct tamis_filter *filter, const struct tamis__view *view,
                        struct tamis__catalog_txn *txn, const struct tamis__record *record)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < record->segment_count; i++) {
        const struct tamis__listed_segment *entry = &record->segments[i];
        const struct tamis__mapped_segment *s = tamis__view_find(view, entry->number);
        const struct tamis__missing missing = {
            .filter_id = record->filter_id,
            .segment = entry->number,
            .since = s == NULL ? 0 : tamis__clean_until_of(s->segment.live, entry->created_at),
            .keys = s == NULL ? 0 : tamis__missing_items(entry, &s->segment)};
        if (missing.keys > 0) rc = tamis__note_missing(filter->store, txn, &missing);
    }
    return rc;
}

/* The counts are read under the exclusive lock, so that they never go back. */
int tamis__record_items_in(struct tamis_filter *filter, const struct tamis__view *view,
                           struct tamis__catalog_txn *txn, int64_t checkpointed_at)
{
    struct tamis__record record;
    int rc = tamis__store_get_by_id(filter->store, txn, filter->filter_id, &record);
    if (rc == TAMIS_ENOTFOUND) rc = tamis__fail_dropped(filter);
    if (rc == 0) rc = note_missing(filter, view, txn, &record);
    if (rc < 0) return rc;
    const uint32_t known = tamis__view_count_record(view, &record);
    rc = tamis__view_check(view);
    if (known == record.segment_count && checkpointed_at > record.checkpointed_at)
        record.checkpointed_at = checkpointed_at;
    if (rc == 0 && known == record.segment_count)
        rc = tamis__put_trouble(txn, record.filter_id, tamis__view_trouble(view));
    return rc < 0 ? rc : tamis__catalog_put(txn, &record);
}

int tamis__record_items(struct tamis_filter *filter, const struct tamis__view *view,
                        int64_t checkpointed_at)
{
    struct tamis__catalog_txn *txn;
    int rc = tamis__store_begin_write(filter->store, &txn);
    if (rc < 0) return rc;
    rc = tamis__record_items_in(filter, view, txn, checkpointed_at);
    if (rc == 0) rc = tamis__catalog_commit(txn);
    /* ORDER relaxed: a hint that saves a commit; the catalog is the truth. */
    if (rc == 0)
        __atomic_store_n(&filter->recorded_items, tamis__view_items(view), __ATOMIC_RELAXED);
    tamis__catalog_end(txn);
    return rc;
}

int tamis__tell_of_failure(struct tamis_filter *filter, const struct tamis__view *view, int rc)
{
    char cause[768];
    (void)snprintf(cause, sizeof cause, "%s", tamis_last_error());
    (void)tamis__record_items(filter, view, 0);
    return tamis__fail(rc, "%s", cause);
}

/* ---- Checkpoint ------------------------------------------------------------------------------ */

/* Goes to the list that is in force.  If its maker died before the handles were told, others may
 * have added to it already. */
static int go_to_list_in_force(struct tamis_filter *filter, struct tamis__view **view)
{
    int rc = 0; /* ORDER relaxed: see tamis__view_current. */
    while (rc == 0 && tamis__segment_epoch(&tamis__newest(*view)->segment) !=
                          __atomic_load_n(&(*view)->epoch, __ATOMIC_RELAXED))
        rc = tamis__view_advance(filter, view);
    return rc;
}

/*
 * Lets go of the segments that the list has left, so that their marks become clean and they get
 * checksums although this handle stays open.  A segment that no older view has has no adder: calls
 * in this view add to its newest segment.
 */
static void let_go_of_left(const struct tamis__view *view)
{
    for (uint32_t i = 0; i + 1 < view->count; i++)
        /* ORDER acquire: what the users of older views wrote was written before they left. */
        if (__atomic_load_n(view->segments[i].references, __ATOMIC_ACQUIRE) == 1)
            tamis__mark_let_go(&view->segments[i].segment);
}

/* Brings all segments of a view to the disk. */
static int write_segments(struct tamis_filter *filter, struct tamis__view **view)
{
    const int64_t begun = tamis__steady_ns();
    int rc = go_to_list_in_force(filter, view);
    if (rc < 0) return rc;
    let_go_of_left(*view);
    for (uint32_t i = 0; rc >= 0 && i < (*view)->count; i++)
        rc = tamis__mark_checkpoint(&(*view)->segments[i].segment);
    for (uint32_t i = 0; rc >= 0 && i < (*view)->count; i++)
        tamis__pages_anew(&(*view)->segments[i].segment);
    const int64_t taken = tamis__steady_ns() - begun;
    if (taken >= TAMIS_SLOW_SYNC_NS)
        tamis__store_tell(filter->store, TAMIS_EVENT_SLOW_SYNC, filter->name, (*view)->count,
                          taken);
    return rc < 0 ? tamis__tell_of_failure(filter, *view, rc) : 0;
}

int tamis__filter_write_out(struct tamis_filter *filter)
{
    struct tamis__view *view;
    int rc = tamis__visit(filter, &view);
    if (rc == 0) {
        rc = write_segments(filter, &view);
        rc = (int)tamis__leave_with(filter, view, rc);
    }
    return rc;
}

TAMIS_API int tamis_filter_sync(tamis_filter *filter)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    /* The time is taken before the writes: what is added later may not be in them. */
    const int64_t now = tamis__now_ns();
    struct tamis__view *view;
    if (filter->read_only) return tamis__fail_read_only(filter);
    int rc = tamis__visit(filter, &view);
    if (rc < 0) return rc;
    rc = write_segments(filter, &view);
    if (rc == 0) rc = tamis__record_items(filter, view, now);
    return (int)tamis__leave_with(filter, view, rc);
}

static int accept_held(struct tamis_filter *filter, const struct tamis__view *view,
                       struct tamis__catalog_txn *txn)
{
    struct tamis__record record;
    int rc = tamis__catalog_get_by_id(txn, filter->filter_id, &record);
    if (rc == TAMIS_ENOTFOUND) return tamis__fail_dropped(filter);
    for (uint32_t i = 0; rc == 0 && i < view->count; i++)
        rc = tamis__mark_accept(&view->segments[i].segment);
    if (rc == 0) rc = tamis__put_trouble(txn, record.filter_id, tamis__view_trouble(view));
    return rc < 0 ? rc : tamis__catalog_commit(txn);
}

TAMIS_API int tamis_filter_accept(tamis_filter *filter)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    struct tamis__view *view;
    struct tamis__catalog_txn *txn;
    if (filter->read_only) return tamis__fail_read_only(filter);
    int rc = tamis__visit(filter, &view);
    if (rc < 0) return rc;
    rc = tamis__store_begin_write(filter->store, &txn);
    if (rc == 0) {
        rc = accept_held(filter, view, txn);
        tamis__catalog_end(txn);
    }
    return (int)tamis__leave_with(filter, view, rc);
}

/* ---- The mark of the newest segment ---------------------------------------------------------- */

int tamis__view_mark(struct tamis_filter *filter, struct tamis__view *view)
{
    /* ORDER relaxed: this process set it, and the truth is in the segment. */
    if ((__atomic_load_n(&view->chores, __ATOMIC_RELAXED) & TAMIS__CHORE_MARK) == 0) return 0;
    const int rc = tamis__begin_writing(filter, &tamis__newest(view)->segment);
    if (rc == 0) (void)__atomic_fetch_and(&view->chores, ~TAMIS__CHORE_MARK, __ATOMIC_RELAXED);
    return rc;
}
