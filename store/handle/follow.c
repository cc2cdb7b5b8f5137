/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * follow.c: see follow.h.
 *
 * Two ways lead from a list to the next one.  A segment that has been left names the segment after
 * it in its header (`next`).  So a handle follows a list that grew without the catalog and without
 * a lock.  All other changes (a drop, segments taken away) raise the epoch before they are
 * committed, and the handle finds in the catalog whether they were.  If somebody else has the
 * catalog's lock, it reads there without the lock (docs/concurrency.md, "Without the lock"): so it
 * never goes on in a list that is no longer in force, whether the publisher is at work, stopped or
 * dead, and whoever has the lock.
 */
#include "handle/follow.h"

#include <assert.h>

#include "handle/points.h"
#include "txn/event.h"
#include "txn/spares.h"

int tamis__visit(struct tamis_filter *filter, struct tamis__view **view)
{
    *view = tamis__enter(&filter->view);
    if (*view == NULL) return TAMIS_ENOMEM;
    const int rc = tamis__view_current(filter, view);
    if (rc < 0) tamis__leave(filter, *view);
    return rc;
}

int tamis__pin_current(struct tamis_filter *filter, struct tamis__view **pinned)
{
    struct tamis__view *view;
    const int rc = tamis__visit(filter, &view);
    if (rc < 0) return rc;
    /* ORDER seq_cst: the view is pinned before it is left. */
    (void)__atomic_add_fetch(&view->pins, 1, __ATOMIC_SEQ_CST);
    tamis__leave(filter, view);
    *pinned = view;
    return 0;
}

void tamis__unpin(struct tamis_filter *filter, struct tamis__view *view)
{
    /* ORDER seq_cst: all work in the view comes before anybody gives it back. */
    (void)__atomic_sub_fetch(&view->pins, 1, __ATOMIC_SEQ_CST);
    tamis__view_reclaim(filter);
}

/*
 * The word `next` that the view expects in its newest segment.  Another thread may be in
 * only_spare_moved() and write it, whoever holds the catalog's lock.
 *
 * ORDER relaxed: all values that are written have the same list, so no other memory hangs on which
 * one is read.  An older value differs from the segment's own word, and then the next call follows
 * again.
 */
static uint64_t next_of(const struct tamis__view *view)
{
    return __atomic_load_n(&view->next, __ATOMIC_RELAXED);
}

/* Gives `view` the segments of `from`. */
static void share_all(struct tamis__view *view, const struct tamis__view *from)
{
    for (; view->count < from->count; view->count++)
        tamis__segment_share(&view->segments[view->count], &from->segments[view->count]);
}

/*
 * Makes a view that goes on with segment `number`: behind the old list, or in its stead if the
 * segment is a list_start.  Returns 1, or 0 if the segment is not newer than the list, as after a
 * rollback to a list that had grown.
 */
static int extend(struct tamis_filter *filter, const struct tamis__view *old, uint64_t number,
                  struct tamis__view **out)
{
    struct tamis__mapped_segment next;
    int rc =
        tamis__map_segment(filter->store, number, filter->filter_id, !filter->read_only, &next);
    if (rc < 0) return rc;
    const struct tamis__segment_header *h = next.segment.header;
    const struct tamis__policy policy = h->list_start ? tamis__header_policy(h) : old->policy;
    const double fp_rate = h->list_start ? policy.fp_rate : old->fp_rate;
    /* A list that a rollback put in force again is as new as its word in_force says.  The word is
     * read before the exceptions. */
    const uint64_t again = h->list_start ? tamis__segment_in_force(&next.segment) : 0;
    const uint64_t publication = again > h->publication ? again : h->publication;
    /* A spare has the publication of its record, and the view may have been made from that. */
    const bool newer =
        publication > old->publication || (!h->list_start && publication == old->publication);
    struct tamis__view *view = newer ? tamis__view_new(old->count + 1, &policy, fp_rate) : NULL;
    if (view == NULL) {
        tamis__close_segment(&next);
        return newer ? TAMIS_ENOMEM : 0;
    }
    if (!h->list_start) share_all(view, old);
    view->segments[view->count++] = next;
    view->publication = publication;
    view->exceptions = tamis__segment_exceptions(&next.segment);
    TAMIS__POINT(TAMIS__POINT_LIST_FOLLOWED);
    rc = tamis__view_take_index(filter->store, view->exceptions, filter->filter_id, old, view);
    if (rc < 0) {
        tamis__view_free(view);
        return rc;
    }
    /* The epoch is taken as one less: what raised it in between is only in the catalog, and the
     * next call looks there. */
    view->epoch = tamis__segment_epoch(&next.segment) - 1;
    tamis__view_complete(view, filter->read_only);
    *out = view;
    return 1;
}

/* Makes a view of the same list with the exceptions that its newest segment names.  Returns as
 * extend() does. */
static int exchange_index(struct tamis_filter *filter, const struct tamis__view *old,
                          struct tamis__view **out)
{
    const struct tamis__segment *newest = &tamis__newest(old)->segment;
    const uint64_t in_force = tamis__segment_in_force(newest); /* read before the exceptions */
    const uint64_t number = tamis__segment_exceptions(newest);
    struct tamis__view *view = tamis__view_new(old->count, &old->policy, old->fp_rate);
    if (view == NULL) return TAMIS_ENOMEM;
    const int rc = tamis__view_take_index(filter->store, number, filter->filter_id, old, view);
    const struct tamis__segment_header *h = view->index.segment.header;
    const uint64_t publication = h != NULL ? h->publication : in_force;
    if (rc < 0 || publication <= old->publication) {
        tamis__view_free(view);
        return rc;
    }
    share_all(view, old);
    view->publication = publication;
    view->exceptions = number;
    view->epoch = tamis__segment_epoch(newest) - 1;
    view->next = next_of(old);
    tamis__view_complete(view, filter->read_only);
    *out = view;
    return 1;
}

/* Puts `newer` into the handle, in the place of the view that the caller is in, and enters it.
 * Returns false if another thread has exchanged the view already: then the caller is in that view,
 * which need not be as new, and `newer` is freed. */
static int install_view(struct tamis_filter *filter, struct tamis__view **view,
                        struct tamis__view *newer)
{
    struct tamis__view *old = *view;
    assert(old != NULL && newer != NULL); /* the caller is in the one, and has made the other */
    const struct tamis__segment_header *before = tamis__newest(old)->segment.header,
                                       *after = tamis__newest(newer)->segment.header;
    const uint32_t segments = newer->count;
    const bool rotated = after->slice != before->slice,
               grew = !rotated && after->step > before->step;
    /* ORDER seq_cst: see tamis__enter. */
    const bool ours = __atomic_compare_exchange_n(&filter->view, &old, newer, false,
                                                  __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    if (ours)
        tamis__view_retire(filter, *view);
    else
        tamis__view_free(newer);
    if (ours && (rotated || grew))
        tamis__store_tell(filter->store, rotated ? TAMIS_EVENT_ROTATED : TAMIS_EVENT_GREW,
                          filter->name, segments, 0);
    struct tamis__view *entered = tamis__enter(&filter->view);
    if (entered != NULL) *view = entered; /* never NULL here: this thread has its slot already */
    tamis__view_reclaim(filter);          /* we have left the old view, too */
    return ours;
}

static bool is_list_of(const struct tamis__view *view, const struct tamis__record *record)
{
    const struct tamis__segment_header *index = view->index.segment.header;
    if (view->count != record->segment_count) return false;
    if ((index ? index->number : 0) != record->exceptions) return false;
    for (uint32_t i = 0; i < view->count; i++)
        if (view->segments[i].segment.header->number != record->segments[i].number) return false;
    return true;
}

#define AGAIN 1  /* another thread has exchanged the view meanwhile */
#define UNSURE 2 /* only who has the catalog's lock can tell what is in force */

static unsigned how_of(const struct tamis_filter *filter)
{
    return filter->read_only ? TAMIS__VIEW_READ_ONLY : 0;
}

/* Goes to the list of a record that was read under the catalog's lock.  Returns 0, AGAIN or an
 * error. */
static int take_record(struct tamis_filter *filter, struct tamis__view **view,
                       const struct tamis__record *record)
{
    struct tamis__view *newer;
    const struct tamis__segment *newest = &tamis__newest(*view)->segment;
    const uint64_t epoch = tamis__segment_epoch(newest);
    if (is_list_of(*view, record) && (*view)->publication == record->publication &&
        (*view)->policy.pages == record->policy.pages &&
        tamis__segment_next(newest) == next_of(*view) &&
        tamis__segment_exceptions(newest) == (*view)->exceptions) {
        /* ORDER relaxed: an older value only causes another look. */
        __atomic_store_n(&(*view)->epoch, epoch, __ATOMIC_RELAXED);
        return 0;
    }
    const int rc = tamis__view_make(filter->store, record, how_of(filter), *view, &newer);
    return rc < 0 ? rc : install_view(filter, view, newer) ? 0 : AGAIN;
}

/* How often a list may be replaced between the look at its record and at its words, or while its
 * files are being mapped, before the lock is waited for. */
#define PEEKS_MAX 3

/* Reads the record without the catalog's lock, which another process has, and goes to its list.
 * The epoch that the view remembers stays behind, so every call looks here until the lock is free.
 * Returns 0, AGAIN, UNSURE or an error. */
static int take_peeked(struct tamis_filter *filter, struct tamis__view **view)
{
    struct tamis__record record;
    struct tamis__view *newer = NULL;
    for (int i = 0; newer == NULL && i < PEEKS_MAX; i++) {
        const int rc = tamis__store_peek(filter->store, filter->filter_id, &record, NULL);
        if (rc == TAMIS_ENOTFOUND) return tamis__fail_dropped(filter);
        if (rc != 0) continue;
        if (record.publication < (*view)->publication) return UNSURE;
        if (is_list_of(*view, &record) && record.publication == (*view)->publication &&
            record.policy.pages == (*view)->policy.pages)
            return 0;
        (void)tamis__view_make(filter->store, &record, how_of(filter) | TAMIS__VIEW_UNLOCKED, *view,
                               &newer);
    }
    if (newer == NULL) return UNSURE;
    return install_view(filter, view, newer) ? 0 : AGAIN;
}

/*
 * Goes to what the catalog says.  If another process has the catalog's lock, a caller that does not
 * `wait` reads the catalog without it.  So a publisher that is stopped keeps no such caller
 * waiting. It waits for the lock only if a publisher died half-way through, or if the catalog
 * changes all the time.
 */
static int follow_catalog(struct tamis_filter *filter, struct tamis__view **view, bool wait)
{
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    /* ORDER relaxed: the word is set once, and only to true. */
    if (__atomic_load_n(&filter->dropped, __ATOMIC_RELAXED)) return tamis__fail_dropped(filter);
    int rc = tamis__catalog_try_begin(&filter->store->catalog, TAMIS__LOCK_SHARED, wait, &txn);
    if (rc == 0) {
        rc = take_peeked(filter, view);
        if (rc != UNSURE) return rc;
        rc = tamis__catalog_try_begin(&filter->store->catalog, TAMIS__LOCK_SHARED, true, &txn);
    }
    if (rc <= 0) return rc;
    rc = tamis__store_get_by_id(filter->store, txn, filter->filter_id, &record);
    if (rc == 0) rc = take_record(filter, view, &record);
    tamis__catalog_end(txn);
    if (rc != TAMIS_ENOTFOUND) return rc;
    __atomic_store_n(&filter->dropped, true, __ATOMIC_RELAXED);
    return tamis__fail_dropped(filter);
}

/* Follows `next` of the newest segment.  Returns true if *view has changed. */
static bool follow_chain(struct tamis_filter *filter, struct tamis__view **view)
{
    struct tamis__view *newer = NULL;
    const struct tamis__segment *newest = &tamis__newest(*view)->segment;
    const uint64_t next = tamis__segment_next(newest);
    const uint64_t exceptions = tamis__segment_exceptions(newest);
    int rc = 0;
    if (next == TAMIS__NEXT_DROPPED)
        __atomic_store_n(&filter->dropped, true, __ATOMIC_RELAXED);
    else if (tamis__segment_is_left(newest) && (*view)->count < TAMIS__SEGMENTS_MAX)
        rc = extend(filter, *view, next, &newer);
    else if (exceptions != (*view)->exceptions)
        rc = exchange_index(filter, *view, &newer);
    if (rc <= 0) /* the segment that it named is gone; another one may be named by now */
        return rc < 0 && (tamis__segment_next(newest) != next ||
                          tamis__segment_exceptions(newest) != exceptions);
    (void)install_view(filter, view, newer); /* another thread's view is looked at in turn */
    return true;
}

/* Has only a spare been offered or taken back?  That changes nothing of the list. */
static bool only_spare_moved(struct tamis__view *view)
{
    const struct tamis__segment *newest = &tamis__newest(view)->segment;
    const uint64_t next = tamis__segment_next(newest);
    /* ORDER relaxed: see next_of. */
    if (!tamis__view_goes_on(next) || !tamis__view_goes_on(next_of(view)) ||
        tamis__segment_epoch(newest) != __atomic_load_n(&view->epoch, __ATOMIC_RELAXED) ||
        tamis__segment_exceptions(newest) != view->exceptions)
        return false;
    __atomic_store_n(&view->next, next, __ATOMIC_RELAXED);
    return true;
}

/* Goes to the end of the chain; then to the catalog, which alone says what was taken out. */
static int follow_list(struct tamis_filter *filter, struct tamis__view **view, bool wait)
{
    int rc = tamis__view_check(*view); /* a broken newest segment must not lead us anywhere */
    if (rc < 0) return rc;
    if (!wait && only_spare_moved(*view)) return 0;
    rc = AGAIN;
    while (rc == AGAIN) {
        while (follow_chain(filter, view))
            continue;
        /* If the chain leads to a segment that is gone, the whole window has moved on since this
         * view was made.  The view lacks the keys that are added now, so this waits for the
         * catalog. */
        const bool lost = tamis__segment_is_left(&tamis__newest(*view)->segment);
        rc = follow_catalog(filter, view, wait || lost);
    }
    return rc;
}

int tamis__view_follow(struct tamis_filter *filter, struct tamis__view **view)
{
    const struct tamis__view_numbers before = tamis__view_numbers(*view);
    const int rc = follow_list(filter, view, false);
    if (rc == 0) tamis__view_populate_new(filter, *view, before);
    return rc;
}

int tamis__view_advance(struct tamis_filter *filter, struct tamis__view **view)
{
    const struct tamis__view_numbers before = tamis__view_numbers(*view);
    bool moved = false;
    int rc = tamis__view_check(*view);
    if (rc < 0) return rc;
    while (follow_chain(filter, view))
        moved = true;
    rc = follow_list(filter, view, !moved); /* a word may be as old as the caller's view */
    if (rc == 0) tamis__view_populate_new(filter, *view, before);
    return rc;
}

int tamis__visit_segment(struct tamis_filter *filter, uint32_t index, struct tamis__view **view)
{
    const int rc = tamis__visit(filter, view);
    if (rc < 0 || index < (*view)->count) return rc;
    const uint32_t count = (*view)->count;
    tamis__leave(filter, *view);
    return tamis__fail(TAMIS_EINVAL, "there is no segment %u; the filter has %u", index, count);
}
