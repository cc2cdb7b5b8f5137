/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * grow.c: a filter goes on in a further segment: because the newest is full (growth), or because
 * its time or share of the window is over (rotation).
 *
 *     guard      flock on the newest segment's file: one process makes the next one
 *     stage      the file, allocated in full, without the catalog's lock
 *     catalog    exclusive lock; still the newest?  then name the file, take out what the window has
 *                left behind, commit
 *     leave      the newest segment says which one comes after it: adders that see it go on there
 *     unlink     what was taken out
 *
 * Killed before the commit, the old list is in force; after it, the new one: whoever looks at the
 * catalog next, or finds the segment full, says what `leave` would have said.  Nobody waits for ever:
 * where the guard or the catalog stays locked for WAIT_NS the caller goes on adding to the full segment.
 */
#include <string.h>

#include "base/error.h"
#include "base/point.h"
#include "hash/hash_set.h"
#include "policy.h"
#include "publish.h"
#include "store.h"

/* A disk's sync takes some ms; more than this and the one who has the lock is stopped. */
#define WAIT_NS 1000000000
#define PAUSE_US 200

enum reason { FULL, TIME_IS_OVER, FORCED };

struct change {
    struct tamis_filter *filter;
    struct tamis__view *view;
    enum reason reason;
    int64_t now, deadline;
    uint64_t newest; /* number of the segment that is left */
    struct tamis__draft draft;
    uint64_t removed[TAMIS__SEGMENTS_MAX];
    uint32_t removed_count;
};

/* ---- What the next segment is ---------------------------------------------------------------- */

static int size_segment(const struct tamis__view *view, uint32_t step,
                        struct tamis__record_segment *next)
{
    const struct tamis__segment_header *newest = tamis__newest(view)->segment.header;
    const struct tamis__hash_set *set = tamis__hash_set_by_id(newest->hash_set);
    const bool same = set != NULL && set->any_kind;
    struct tamis__plan plan = {.sizing.kind = same ? newest->kind : TAMIS_KIND_BLOCKED,
                               .hash_set = same ? set : tamis__hash_set_by_id(TAMIS__HASH_XXH3),
                               .bit_order = TAMIS__BITS_LSB_FIRST,
                               .seed = same ? newest->seed : 0,
                               .policy = view->policy};
    if (same) memcpy(plan.parameters, newest->parameters, sizeof plan.parameters);
    const int rc = tamis__policy_size(&plan.policy, step, &plan.sizing);
    if (rc < 0) return rc;
    tamis__plan_describe(&plan, next);
    next->step = step;
    next->slice = newest->slice;
    next->slice_start = newest->slice_start;
    return 0;
}

static int draft_next(struct change *change)
{
    struct tamis__record_segment next;
    const struct tamis__segment_header *newest = tamis__newest(change->view)->segment.header;
    const bool grows = change->reason == FULL && change->view->policy.window_items == 0;
    int rc = size_segment(change->view, grows ? newest->step + 1 : 0, &next);
    if (rc < 0) return rc;
    if (!grows) {
        next.slice++;
        next.slice_start =
            tamis__policy_next_slice(&change->view->policy, newest->slice_start, change->now);
    }
    tamis__draft_init(change->filter->store, change->filter->name, &next, &change->draft);
    tamis__draft_set_policy(&change->draft, &change->view->policy);
    return tamis__draft_stage(change->filter->store, &change->draft);
}

/* ---- The list -------------------------------------------------------------------------------- */

/* How many of the oldest segments go, now that slice `newest` begins. */
static uint32_t count_left_behind(const struct change *change, const struct tamis__record *record)
{
    const struct tamis__policy *policy = &record->policy;
    const int64_t length = tamis__policy_slice_ns(policy);
    uint32_t count = 0;
    if (change->reason == FULL && policy->window_items == 0) return 0;
    for (; count < record->segment_count; count++) {
        const struct tamis__record_segment *s = &record->segments[count];
        const bool late = length > 0 && s->slice_start + length + policy->window_ns <= change->now;
        if (!late && s->slice + policy->slices >= change->draft.header.slice) break;
    }
    return count;
}

static int change_record(struct change *change, struct tamis__catalog_txn *txn,
                         struct tamis__record *record)
{
    struct tamis_store *store = change->filter->store;
    struct tamis__segment_header *header = &change->draft.header;
    int rc = tamis__take_segment_number(store, tamis__catalog_store(txn), &header->number);
    change->removed_count = count_left_behind(change, record);
    if (rc == 0 && change->removed_count > 0) rc = tamis__raise_epochs(store, record);
    for (uint32_t i = 0; rc == 0 && i < change->removed_count; i++) {
        change->removed[i] = record->segments[i].number;
        rc = tamis__catalog_put_garbage(txn, change->removed[i]);
    }
    if (rc < 0) return rc;
    record->segment_count -= change->removed_count;
    memmove(record->segments, record->segments + change->removed_count,
            record->segment_count * sizeof record->segments[0]);
    if (record->segment_count == TAMIS__SEGMENTS_MAX)
        return tamis__fail(TAMIS_ELIMIT,
                           "the filter '%s' has %u segments, the most there can be; make a new one "
                           "of a greater capacity",
                           record->name, TAMIS__SEGMENTS_MAX);
    rc = tamis__exceptions_move(txn, record->filter_id, record->generation,
                                record->last_generation + 1);
    if (rc < 0) return rc;
    header->filter_id = record->filter_id;
    header->generation = record->generation = ++record->last_generation;
    header->publication = header->in_force = ++record->publication;
    header->keep = record->keep;
    header->exceptions = record->exceptions;
    tamis__label_write(&header->labels[0], record->name_sequence, record->name);
    record->published_at = change->now;
    rc = tamis__segment_publish(&store->place, &change->draft.staged, header);
    if (rc < 0) return rc;
    tamis__record_segment_from_header(header, &record->segments[record->segment_count++]);
    tamis__record_sum_capacity(record);
    /* What was missing may have been in what is left behind. */
    if (change->removed_count > 0) rc = tamis__recover_filter(store, txn, record);
    return rc < 0 ? rc : tamis__catalog_put(txn, record);
}

/* Under the exclusive lock, the newest segment still being the newest. */
static int publish(struct change *change, struct tamis__catalog_txn *txn,
                   struct tamis__record *record)
{
    struct tamis_store *store = change->filter->store;
    const struct tamis__segment *left = &tamis__newest(change->view)->segment;
    (void)tamis__view_count_record(change->view, record); /* the counts as they are, for list */
    int rc = tamis__view_check(change->view);
    if (rc == 0) rc = change_record(change, txn, record);
    if (rc == 0) rc = tamis__catalog_commit(txn);
    if (rc < 0) {
        if (change->draft.staged.file.link == NULL)
            (void)tamis__segment_remove(&store->place, change->draft.header.number);
        return rc;
    }
    tamis__segment_leave(left, change->draft.header.number);
    TAMIS__POINT(TAMIS__POINT_GROW_LEFT);
    for (uint32_t i = 0; i < change->removed_count; i++) /* what fails is garbage in the catalog */
        (void)tamis__segment_remove(&store->place, change->removed[i]);
    return 0;
}

/* ---- Under which locks ----------------------------------------------------------------------- */

/* 1: ours; 0: not to be had in time, or (checked by the caller) not needed any more. */
static int wait_for_guard(const struct change *change, struct tamis__private_fd *guard)
{
    const struct tamis__segment *newest = &tamis__newest(change->view)->segment;
    int rc = tamis__segment_guard(&change->filter->store->place, change->newest, guard);
    while (rc == 0 && !tamis__segment_is_left(newest) && tamis__now_ns() < change->deadline) {
        tamis__pause_us(PAUSE_US);
        rc = tamis__segment_guard(&change->filter->store->place, change->newest, guard);
    }
    return rc;
}

static int wait_for_catalog(const struct change *change, struct tamis__catalog_txn **txn)
{
    int rc = tamis__store_begin_write_if_free(change->filter->store, txn);
    while (rc == 0 && tamis__now_ns() < change->deadline) {
        tamis__pause_us(PAUSE_US);
        rc = tamis__store_begin_write_if_free(change->filter->store, txn);
    }
    return rc;
}

/* With the guard.  1: there is another list now, 0: there is not. */
static int make_next(struct change *change)
{
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    int rc = draft_next(change);
    if (rc == 0) {
        TAMIS__POINT(TAMIS__POINT_GROW_STAGED);
        rc = wait_for_catalog(change, &txn);
    }
    if (rc > 0) {
        rc = tamis__catalog_get_by_id(txn, change->filter->filter_id, &record);
        if (rc == TAMIS_ENOTFOUND) {
            rc = tamis__fail_dropped(change->filter);
        } else if (rc == 0) {
            const struct tamis__record_segment *last = &record.segments[record.segment_count - 1];
            if (last->number == change->newest) rc = publish(change, txn, &record);
            if (rc == 0) rc = 1; /* or somebody else's change, which its maker died telling of */
        }
        tamis__catalog_end(txn);
    }
    tamis__drafts_discard(change->filter->store, &change->draft, 1);
    return rc;
}

static int change_list(struct tamis_filter *filter, struct tamis__view **view, enum reason reason)
{
    struct tamis__private_fd guard = {.fd = -1};
    struct change change = {.filter = filter,
                            .view = *view,
                            .reason = reason,
                            .now = tamis__clock_ns(),
                            .deadline = tamis__now_ns() + WAIT_NS,
                            .newest = tamis__newest(*view)->segment.header->number};
    int rc = wait_for_guard(&change, &guard);
    const bool gone = rc == TAMIS_ENOTFOUND; /* the window has left it, or the filter was dropped */
    if (rc > 0 && !tamis__segment_is_left(&tamis__newest(*view)->segment)) rc = make_next(&change);
    tamis__private_close(&guard);
    if (rc < 0 && !gone) return rc;
    if (rc != 0 || tamis__segment_is_left(&tamis__newest(*view)->segment)) {
        rc = reason == FORCED || gone ? tamis__view_advance(filter, view)
                                      : tamis__view_follow(filter, view);
        if (rc < 0 || tamis__newest(*view)->segment.header->number != change.newest) return rc;
    }
    /* ORDER relaxed: a hint that keeps us from waiting at every key. */
    __atomic_store_n(&(*view)->wait_until, tamis__now_ns() + WAIT_NS, __ATOMIC_RELAXED);
    return 0;
}

int tamis__view_renew(struct tamis_filter *filter, struct tamis__view **view)
{
    const struct tamis__view *v = *view;
    /* ORDER relaxed: hints; what is done is decided under the locks. */
    const bool due = __atomic_load_n(&v->chores, __ATOMIC_RELAXED) & TAMIS__CHORE_FULL;
    const int64_t wait_until = __atomic_load_n(&v->wait_until, __ATOMIC_RELAXED);
    const bool over = tamis__view_is_over(v);
    if (!over && !due) return 0;
    if (due && !over && v->policy.on_full == TAMIS_ON_FULL_REFUSE && v->policy.window_items == 0) {
        tamis__segment_leave(&tamis__newest(v)->segment, TAMIS__NEXT_REFUSE);
        return tamis__view_follow(filter, view);
    }
    if (wait_until != 0 && tamis__now_ns() < wait_until) return 0;
    return change_list(filter, view, over ? TIME_IS_OVER : FULL);
}

TAMIS_API int tamis_filter_rotate(tamis_filter *filter)
{
    if (filter->read_only) return tamis__fail_read_only(filter);
    struct tamis__view *view;
    int rc = tamis__visit(filter, &view);
    if (rc < 0) return rc;
    if (view->policy.slices == 0)
        rc = tamis__fail(TAMIS_EUNSUPPORTED,
                         "the filter '%s' has no window to move; make one with a window",
                         filter->name);
    const uint64_t newest = tamis__newest(view)->segment.header->number;
    if (rc == 0) rc = change_list(filter, &view, FORCED);
    if (rc == 0 && tamis__newest(view)->segment.header->number == newest)
        rc = tamis__fail(
            TAMIS_ELIMIT,
            "the filter '%s' could not be rotated: another process has held the store's lock for "
            "a second; try again, or look for a stopped process",
            filter->name);
    return (int)tamis__leave_with(filter, view, rc);
}
