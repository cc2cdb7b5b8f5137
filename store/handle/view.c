/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * view.c: views are made, followed and given back; see view.h.
 *
 * Two ways lead from a list to the next.  A segment that has been left says in its header which one
 * goes on after it (`next`), so a list that grew is followed without the catalog and without a
 * lock. All else (a drop, segments taken away) is told by the epoch, and found in the catalog.
 */
#include "handle/view.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "exceptions/set.h"
#include "file/mark.h"
#include "file/room.h"
#include "txn/policy.h"
#include "txn/spares.h"
#include "txn/store.h"

/* ---- Where the threads are ------------------------------------------------------------------- */

_Thread_local struct tamis__visitor *tamis__self;
bool tamis__visit_is_light;

static struct tamis__visitor *visitors; /* atomic; only ever added to */
static pthread_key_t visitor_key;
static bool visitor_key_made;
static pthread_once_t visitors_once = PTHREAD_ONCE_INIT;

/* At the end of a thread another one may have its slot; not this one again, in what still runs in
 * it. */
static void release_visitor(void *context)
{
    struct tamis__visitor *visitor = context;
    if (visitor == tamis__self) tamis__self = NULL;
    /* ORDER release: the slot is empty before it can be another's. */
    __atomic_store_n(&visitor->view, NULL, __ATOMIC_RELEASE);
    __atomic_store_n(&visitor->used, 0, __ATOMIC_RELEASE);
}

/* In the child of a fork() there is one thread; the others' slots would say for ever where they
 * were. */
static void after_fork_in_child(void)
{
    for (struct tamis__visitor *r = visitors; r != NULL; r = r->next)
        if (r != tamis__self) release_visitor(r);
    tamis__visit_is_light = tamis__barrier_prepare();
}

static void prepare_visitors(void)
{
    visitor_key_made = pthread_key_create(&visitor_key, release_visitor) == 0;
    (void)pthread_atfork(NULL, NULL, after_fork_in_child);
    tamis__visit_is_light = tamis__barrier_prepare();
}

struct tamis__visitor *tamis__visitor_register(void)
{
    struct tamis__visitor *visitor;
    (void)pthread_once(&visitors_once, prepare_visitors);
    /* ORDER acquire: pairs with the release of the push below. */
    for (visitor = __atomic_load_n(&visitors, __ATOMIC_ACQUIRE); visitor != NULL;
         visitor = visitor->next) {
        unsigned unused = 0; /* ORDER acquire: pairs with release_visitor */
        if (__atomic_compare_exchange_n(&visitor->used, &unused, 1, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            break;
    }
    if (visitor == NULL) {
        visitor = calloc(1, sizeof *visitor);
        if (visitor == NULL) {
            (void)tamis__fail(TAMIS_ENOMEM, "out of memory for this thread's first call");
            return NULL;
        }
        visitor->used = 1;
        visitor->next = __atomic_load_n(&visitors, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(&visitors, &visitor->next, visitor, false,
                                            __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            continue;
    }
    /* Where that fails the slot is not used again. */
    if (visitor_key_made) (void)pthread_setspecific(visitor_key, visitor);
    tamis__self = visitor;
    return visitor;
}

/* By its address alone: what is on the list of retired ones may be gone. */
static bool has_visitor(const struct tamis__view *view)
{
    /* ORDER seq_cst, acquire: as tamis__enter says; and what its user did in it comes before. */
    for (const struct tamis__visitor *r = __atomic_load_n(&visitors, __ATOMIC_ACQUIRE); r != NULL;
         r = r->next)
        if (__atomic_load_n(&r->view, __ATOMIC_SEQ_CST) == view) return true;
    return false;
}

/* ---- Giving back ----------------------------------------------------------------------------- */

void tamis__close_segment(struct tamis__store_segment *s)
{
    if (s->references == NULL) return;
    /* ORDER acq_rel: the last one unmaps after all that the others did. */
    if (__atomic_sub_fetch(s->references, 1, __ATOMIC_ACQ_REL) != 0) return;
    tamis__segment_close(&s->segment);
    free(s->references);
}

void tamis__view_free(struct tamis__view *view)
{
    if (view == NULL) return;
    for (uint32_t i = 0; i < view->count; i++)
        tamis__close_segment(&view->segments[i]);
    tamis__close_segment(&view->index);
    free(view);
}

int tamis__view_check(const struct tamis__view *view)
{
    int rc = tamis__segment_check(&view->index.segment);
    for (uint32_t i = 0; rc == 0 && i < view->count; i++)
        rc = tamis__segment_check(&view->segments[i].segment);
    return rc;
}

int64_t tamis__view_answer_of_all(const struct tamis__view *view, int64_t answer)
{
    bool whole =
        view->index.segment.header == NULL || tamis__segment_is_whole(&view->index.segment);
    for (uint32_t i = 0; i < view->count; i++)
        whole &= tamis__segment_is_whole(&view->segments[i].segment);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__atomic_load_n(&tamis__guard_faults, __ATOMIC_RELAXED) == 0 && whole) return answer;
    const int rc = tamis__view_check(view);
    return rc < 0 ? rc : answer;
}

static void retire(struct tamis_filter *filter, struct tamis__view *view)
{
    view->retired = __atomic_load_n(&filter->retired, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&filter->retired, &view->retired, view, false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        continue;
}

/*
 * Free the views that nobody is in.  Again if one that was put back has been left meanwhile: its
 * last user found none to free while this thread had it.
 */
void tamis__view_reclaim(struct tamis_filter *filter)
{
    bool again = true;
    while (again) {
        struct tamis__view *visited = NULL,
                           *view = __atomic_exchange_n(&filter->retired, NULL, __ATOMIC_ACQ_REL);
        again = false;
        if (view == NULL) return;
        tamis__barrier(tamis__visit_is_light);
        while (view != NULL) {
            struct tamis__view *next = view->retired;
            /* Slots first: who pins it is in it meanwhile, and finding that one gone shows the pin.
             * */
            if (has_visitor(view)) {
                view->retired = visited;
                visited = view;
            } else if (__atomic_load_n(&view->pins, __ATOMIC_SEQ_CST) != 0) {
                retire(filter, view); /* who unpins it comes by here again */
            } else {
                tamis__view_free(view);
            }
            view = next;
        }
        while (visited != NULL) {
            struct tamis__view *next = visited->retired;
            retire(filter, visited); /* from here on it may be gone */
            again |= !has_visitor(visited);
            visited = next;
        }
    }
}

/* ---- Long visits ----------------------------------------------------------------------------- */

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
    /* ORDER seq_cst: it is pinned before it is left. */
    (void)__atomic_add_fetch(&view->pins, 1, __ATOMIC_SEQ_CST);
    tamis__leave(filter, view);
    *pinned = view;
    return 0;
}

void tamis__unpin(struct tamis_filter *filter, struct tamis__view *view)
{
    /* ORDER seq_cst: what was done in it comes before anybody gives it back. */
    (void)__atomic_sub_fetch(&view->pins, 1, __ATOMIC_SEQ_CST);
    tamis__view_reclaim(filter);
}

/* ---- Making ---------------------------------------------------------------------------------- */

/* Without segments yet, and with room for so many. */
static struct tamis__view *new_view(uint32_t count, const struct tamis__policy *policy,
                                    double fp_rate)
{
    struct tamis__view *view = calloc(1, sizeof *view + count * sizeof view->segments[0]);
    if (view == NULL) {
        (void)tamis__fail(TAMIS_ENOMEM, "out of memory opening a filter");
        return NULL;
    }
    view->policy = *policy;
    view->fp_rate = fp_rate;
    return view;
}

static void share(struct tamis__store_segment *to, const struct tamis__store_segment *from)
{
    *to = *from;
    /* ORDER relaxed: whoever shares has it. */
    (void)__atomic_add_fetch(to->references, 1, __ATOMIC_RELAXED);
}

const struct tamis__store_segment *tamis__view_find(const struct tamis__view *view, uint64_t number)
{
    for (uint32_t i = 0; view != NULL && i < view->count; i++)
        if (view->segments[i].segment.header->number == number) return &view->segments[i];
    return NULL;
}

/* Has a key one digest in all of them? */
static void choose_digests(struct tamis__view *view)
{
    const struct tamis__segment_header *newest = tamis__newest(view)->segment.header;
    view->by = tamis__header_digester(newest);
    view->digested = true;
    for (uint32_t i = 0; i < view->count; i++) {
        struct tamis__store_segment *s = &view->segments[i];
        const struct tamis__segment_header *h = s->segment.header;
        const bool has = tamis__hash_set_by_id(h->hash_set)->digest != NULL;
        s->calls = has && s->kind->by_digest != NULL ? s->kind->by_digest(h) : NULL;
        view->digested &= s->calls != NULL && h->hash_set == newest->hash_set &&
                          h->seed == newest->seed &&
                          memcmp(h->parameters, newest->parameters, sizeof h->parameters) == 0;
    }
}

/* Does a newest segment that says this take keys? */
static bool goes_on(uint64_t next)
{
    return next == 0 || tamis__next_spare(next) != 0;
}

/* Where there is a short way for one key. */
static void choose_ways(struct tamis__view *view, bool read_only)
{
    choose_digests(view);
    view->is_lone = view->count == 1 && view->index.segment.header == NULL;
    view->is_short =
        view->is_lone && view->digested && view->by.secret == NULL && view->slice_ns == 0;
    view->takes_short = view->is_short && !read_only && goes_on(view->next) &&
                        view->policy.slices == 0 && view->rotate_at == INT64_MAX;
}

/* What follows from policy and segments. */
static void complete(struct tamis__view *view, bool read_only)
{
    const struct tamis__policy *policy = &view->policy;
    const struct tamis__segment_header *newest = tamis__newest(view)->segment.header;
    assert(newest != NULL); /* no list is empty */
    view->limit = read_only ? UINT64_MAX : tamis__policy_limit(policy, newest);
    view->slice_ns = tamis__policy_slice_ns(policy);
    view->rotate_at =
        view->slice_ns > 0 && !read_only ? newest->slice_start + view->slice_ns : INT64_MAX;
    while (view->segments[view->slice_first].segment.header->slice != newest->slice)
        view->slice_first++;
    for (view->first = 0;
         newest->slice > policy->slices &&
         view->segments[view->first].segment.header->slice < newest->slice - policy->slices;)
        view->first++;
    choose_ways(view, read_only);
    view->made_at = tamis__steady_ns();
    view->left_at_first = tamis__room_left(&tamis__newest(view)->segment, view->limit);
    tamis__segment_choose_tail(&view->segments[view->count - 1].segment);
    if (!read_only && tamis__view_is_written(view) &&
        !tamis__mark_is_writer(&tamis__newest(view)->segment))
        view->chores |= TAMIS__CHORE_MARK;
    if (!read_only && policy->durable && tamis__view_is_written(view))
        view->chores |= TAMIS__CHORE_DURABLE;
    /* Whoever adds in this view has read `next` of the segments before the newest, and asks them
     * after this fence: docs/concurrency.md, "The list goes on". */
    tamis__fence();
}

/* What the newest segment of the record says: nothing, or its spare, which may be entered at any
 * moment: so nothing is written over what it should say, or will.  A number that it should not say
 * is of a store that was copied while it was written to. */
static void link_newest(const struct tamis__segment *newest, const struct tamis__record *record)
{
    const uint64_t spare =
        record->spare_count > 0 ? record->segments[record->segment_count].number : 0;
    uint64_t is = tamis__segment_next(newest);
    while (is != 0 && is != spare && (spare == 0 || tamis__next_spare(is) != spare) &&
           !(is == TAMIS__NEXT_REFUSE && record->policy.on_full == TAMIS_ON_FULL_REFUSE) &&
           !__atomic_compare_exchange_n(&newest->header->next, &is, 0, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST)) /* ORDER: as tamis__segment_leave. */
        continue;
    if (spare != 0) tamis__segment_offer(newest, spare); /* its maker may have died before it did */
}

/*
 * Each segment but the newest says which one comes after it, before anybody who has the list adds:
 * the one who published it may have died before it could say so (docs/concurrency.md).  And the
 * newest one says which exceptions are in force, and since when it is itself.  The caller holds the
 * catalog's lock.
 */
static void link_segments(struct tamis__view *view, const struct tamis__record *record)
{
    const struct tamis__segment *newest = &tamis__newest(view)->segment;
    /* ORDER: as tamis__segment_tell, and in the order of tell() in change.c. */
    if (tamis__segment_exceptions(newest) != record->exceptions)
        __atomic_store_n(&newest->header->exceptions, record->exceptions, __ATOMIC_SEQ_CST);
    if (tamis__segment_in_force(newest) < record->publication)
        __atomic_store_n(&newest->header->in_force, record->publication, __ATOMIC_SEQ_CST);
    for (uint32_t i = 0; i + 1 < view->count; i++) {
        const struct tamis__segment *segment = &view->segments[i].segment;
        const uint64_t right = view->segments[i + 1].segment.header->number;
        if (tamis__segment_next(segment) != right) /* ORDER: as tamis__segment_leave. */
            __atomic_store_n(&segment->header->next, right, __ATOMIC_SEQ_CST);
    }
    link_newest(newest, record);
}

/* The index of exceptions of that number; 0: none. */
static int take_index(struct tamis_store *store, uint64_t number, uint64_t filter_id,
                      const struct tamis__view *old, struct tamis__view *view)
{
    if (number == 0) return 0;
    if (old == NULL || old->index.segment.header == NULL ||
        old->index.segment.header->number != number)
        return tamis__open_index(store, number, filter_id, &view->index);
    share(&view->index, &old->index);
    return 0;
}

int tamis__view_make(struct tamis_store *store, const struct tamis__record *record, bool read_only,
                     const struct tamis__view *old, struct tamis__view **out)
{
    struct tamis__view *view = new_view(record->segment_count, &record->policy, record->fp_rate);
    if (view == NULL) return TAMIS_ENOMEM;
    int rc = take_index(store, record->exceptions, record->filter_id, old, view);
    for (uint32_t i = 0; rc == 0 && i < record->segment_count; i++) {
        const struct tamis__store_segment *have = tamis__view_find(old, record->segments[i].number);
        if (have != NULL)
            share(&view->segments[i], have);
        else
            rc = tamis__open_segment(store, record, i, !read_only, &view->segments[i]);
        if (rc == 0) view->count++;
    }
    if (rc < 0) {
        tamis__view_free(view);
        return rc;
    }
    if (!read_only) link_segments(view, record);
    const struct tamis__segment *newest = &tamis__newest(view)->segment;
    view->epoch = tamis__segment_epoch(newest);
    view->next = tamis__segment_next(newest);
    if (record->spare_count > 0 && view->next == record->segments[record->segment_count].number)
        view->next |= TAMIS__NEXT_SPARE; /* entered this moment: it is followed at the next look */
    view->exceptions = tamis__segment_exceptions(newest);
    view->publication = record->publication;
    complete(view, read_only);
    if (view->limit != UINT64_MAX) tamis__room_adopt(newest);
    *out = view;
    return 0;
}

/* The segments of `from` as those of `view`. */
static void share_all(struct tamis__view *view, const struct tamis__view *from)
{
    for (; view->count < from->count; view->count++)
        share(&view->segments[view->count], &from->segments[view->count]);
}

/*
 * The list that the segment `number` goes on with: behind the one that there is, or (list_start) in
 * its stead.  1; 0 where it is not newer than that, as after the rollback to a list that had grown.
 */
static int extend(struct tamis_filter *filter, const struct tamis__view *old, uint64_t number,
                  struct tamis__view **out)
{
    struct tamis__store_segment next;
    int rc =
        tamis__map_segment(filter->store, number, filter->filter_id, !filter->read_only, &next);
    if (rc < 0) return rc;
    const struct tamis__segment_header *h = next.segment.header;
    const struct tamis__policy policy = h->list_start ? tamis__header_policy(h) : old->policy;
    const double fp_rate = h->list_start ? policy.fp_rate : old->fp_rate;
    /* A list that a rollback put in force again is as old as its word says.  Read before the
     * exceptions. */
    const uint64_t again = h->list_start ? tamis__segment_in_force(&next.segment) : 0;
    const uint64_t publication = again > h->publication ? again : h->publication;
    /* A spare is of the publication of its record, which the view may have been made from. */
    const bool newer =
        publication > old->publication || (!h->list_start && publication == old->publication);
    struct tamis__view *view = newer ? new_view(old->count + 1, &policy, fp_rate) : NULL;
    if (view == NULL) {
        tamis__close_segment(&next);
        return newer ? TAMIS_ENOMEM : 0;
    }
    if (!h->list_start) share_all(view, old);
    view->segments[view->count++] = next;
    view->publication = publication;
    view->exceptions = tamis__segment_exceptions(&next.segment);
    rc = take_index(filter->store, view->exceptions, filter->filter_id, old, view);
    if (rc < 0) {
        tamis__view_free(view);
        return rc;
    }
    /* Not as it is: what has raised it in between is only found in the catalog, at the next call.
     * */
    view->epoch = tamis__segment_epoch(&next.segment) - 1;
    complete(view, filter->read_only);
    *out = view;
    return 1;
}

/* The same list with the exceptions that its newest segment names.  As above. */
static int exchange_index(struct tamis_filter *filter, const struct tamis__view *old,
                          struct tamis__view **out)
{
    const struct tamis__segment *newest = &tamis__newest(old)->segment;
    const uint64_t in_force = tamis__segment_in_force(newest); /* before the exceptions */
    const uint64_t number = tamis__segment_exceptions(newest);
    struct tamis__view *view = new_view(old->count, &old->policy, old->fp_rate);
    if (view == NULL) return TAMIS_ENOMEM;
    const int rc = take_index(filter->store, number, filter->filter_id, old, view);
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
    view->next = old->next;
    complete(view, filter->read_only);
    *out = view;
    return 1;
}

int tamis__view_mark(struct tamis_filter *filter, struct tamis__view *view)
{
    /* ORDER relaxed: set by this process; what it stands for is in the segment. */
    if ((__atomic_load_n(&view->chores, __ATOMIC_RELAXED) & TAMIS__CHORE_MARK) == 0) return 0;
    const int rc = tamis__begin_writing(filter, &tamis__newest(view)->segment);
    if (rc == 0) (void)__atomic_fetch_and(&view->chores, ~TAMIS__CHORE_MARK, __ATOMIC_RELAXED);
    return rc;
}

/* ---- Following ------------------------------------------------------------------------------- */

/*
 * Put it in the place of the one that the caller is in: 1; or 0 where another thread has put one
 * there, which need not be as new as ours.
 */
static int install(struct tamis_filter *filter, struct tamis__view **view,
                   struct tamis__view *fresh)
{
    struct tamis__view *old = *view;
    /* ORDER seq_cst: as tamis__enter says. */
    const bool ours = __atomic_compare_exchange_n(&filter->view, &old, fresh, false,
                                                  __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    if (ours)
        retire(filter, *view);
    else
        tamis__view_free(fresh);
    struct tamis__view *entered = tamis__enter(&filter->view);
    if (entered != NULL) *view = entered; /* it is: this thread has its slot already */
    tamis__view_reclaim(filter);          /* we have left the old one, too */
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

/* Another thread has exchanged the view meanwhile. */
#define AGAIN 1

/* Under the lock.  0, AGAIN or an error. */
static int take_record(struct tamis_filter *filter, struct tamis__view **view,
                       const struct tamis__record *record)
{
    struct tamis__view *fresh;
    const struct tamis__segment *newest = &tamis__newest(*view)->segment;
    const uint64_t epoch = tamis__segment_epoch(newest);
    if (is_list_of(*view, record) && (*view)->publication == record->publication &&
        tamis__segment_next(newest) == (*view)->next &&
        tamis__segment_exceptions(newest) == (*view)->exceptions) {
        /* ORDER relaxed: an older value only means another look. */
        __atomic_store_n(&(*view)->epoch, epoch, __ATOMIC_RELAXED);
        return 0;
    }
    const int rc = tamis__view_make(filter->store, record, filter->read_only, *view, &fresh);
    return rc < 0 ? rc : install(filter, view, fresh) ? 0 : AGAIN;
}

static int follow_catalog(struct tamis_filter *filter, struct tamis__view **view, bool wait)
{
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    const struct tamis__catalog *catalog = &filter->store->catalog;
    /* ORDER relaxed: set once, and only ever to true. */
    if (__atomic_load_n(&filter->dropped, __ATOMIC_RELAXED)) return tamis__fail_dropped(filter);
    int rc = wait ? tamis__catalog_begin(catalog, TAMIS__LOCK_SHARED, &txn)
                  : tamis__catalog_begin_if_free(catalog, TAMIS__LOCK_SHARED, &txn);
    /* While the publisher, or anybody, has the lock, nothing new is in force that it has told of:
     * go on with what we have, and look again at the next call.  So not even a stopped one keeps us
     * waiting. */
    if (rc < 0 || (!wait && rc == 0)) return rc;
    rc = tamis__store_get_by_id(filter->store, txn, filter->filter_id, &record);
    if (rc == 0) rc = take_record(filter, view, &record);
    tamis__catalog_end(txn);
    if (rc != TAMIS_ENOTFOUND) return rc;
    __atomic_store_n(&filter->dropped, true, __ATOMIC_RELAXED);
    return tamis__fail_dropped(filter);
}

/* What the newest segment names is in *view then: true. */
static bool follow_chain(struct tamis_filter *filter, struct tamis__view **view)
{
    struct tamis__view *fresh = NULL;
    const struct tamis__segment *newest = &tamis__newest(*view)->segment;
    const uint64_t next = tamis__segment_next(newest);
    const uint64_t exceptions = tamis__segment_exceptions(newest);
    int rc = 0;
    if (next == TAMIS__NEXT_DROPPED)
        __atomic_store_n(&filter->dropped, true, __ATOMIC_RELAXED);
    else if (tamis__segment_is_left(newest) && (*view)->count < TAMIS__SEGMENTS_MAX)
        rc = extend(filter, *view, next, &fresh);
    else if (exceptions != (*view)->exceptions)
        rc = exchange_index(filter, *view, &fresh);
    if (rc <= 0) /* what it named is gone; if it names another by now, that is to be had */
        return rc < 0 && (tamis__segment_next(newest) != next ||
                          tamis__segment_exceptions(newest) != exceptions);
    (void)install(filter, view, fresh); /* or another thread's: looked at in turn */
    return true;
}

/* That a spare is offered, or taken back, changes nothing of the list. */
static bool only_spare_moved(struct tamis__view *view)
{
    const struct tamis__segment *newest = &tamis__newest(view)->segment;
    const uint64_t next = tamis__segment_next(newest);
    /* ORDER relaxed: see tamis__view_current. */
    if (!goes_on(next) || !goes_on(__atomic_load_n(&view->next, __ATOMIC_RELAXED)) ||
        tamis__segment_epoch(newest) != __atomic_load_n(&view->epoch, __ATOMIC_RELAXED) ||
        tamis__segment_exceptions(newest) != view->exceptions)
        return false;
    __atomic_store_n(&view->next, next, __ATOMIC_RELAXED);
    return true;
}

/* To the end of the chain; then to the catalog, where alone is told what was taken out. */
static int follow(struct tamis_filter *filter, struct tamis__view **view, bool wait)
{
    int rc = tamis__view_check(*view); /* what is followed is what the newest segment says */
    if (rc < 0) return rc;
    if (!wait && only_spare_moved(*view)) return 0;
    rc = AGAIN;
    while (rc == AGAIN) {
        while (follow_chain(filter, view))
            continue;
        /* Where the chain leads to what is no more, the whole window has moved on since this view
         * was made, and keys of now are not in it: that cannot wait. */
        const bool lost = tamis__segment_is_left(&tamis__newest(*view)->segment);
        rc = follow_catalog(filter, view, wait || lost);
    }
    return rc;
}

int tamis__view_follow(struct tamis_filter *filter, struct tamis__view **view)
{
    const struct tamis__view_numbers before = tamis__view_numbers(*view);
    const int rc = follow(filter, view, false);
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
    if (!moved) rc = follow(filter, view, true);
    if (rc == 0) tamis__view_populate_new(filter, *view, before);
    return rc;
}
