/* SPDX-License-Identifier: BSD-2-Clause */
/* view.c: makes views, checks what they answer, and gives them back; see view.h. follow.c exchanges
 * them. */
#include "handle/view.h"

#include <assert.h>

#include "handle/pages.h"
#include "plan/policy.h"
#include "segment/live.h"
#include "segment/mark.h"
#include "segment/room.h"
#include "txn/exceptions.h"
#include "txn/recover.h"
#include "txn/store.h"

/* ---- Giving back ----------------------------------------------------------------------------- */

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

bool tamis__view_is_whole(const struct tamis__view *view)
{
    bool whole =
        view->index.segment.header == NULL || tamis__segment_is_whole(&view->index.segment);
    for (uint32_t i = 0; i < view->count; i++)
        whole &= tamis__segment_is_whole(&view->segments[i].segment);
    return whole;
}

int64_t tamis__view_answer_of_all(const struct tamis__view *view, int64_t answer)
{
    bool whole = tamis__view_is_whole(view);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__atomic_load_n(&tamis__guard_faults, __ATOMIC_RELAXED) == 0 && whole) return answer;
    const int rc = tamis__view_check(view);
    return rc < 0 ? rc : answer;
}

void tamis__view_retire(struct tamis_filter *filter, struct tamis__view *view)
{
    view->retired = __atomic_load_n(&filter->retired, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&filter->retired, &view->retired, view, false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        continue;
}

/* Frees the views that nobody is in.  A view that has a visitor is put back.  If its last user left
 * it while this thread had it, that user found nothing to free: then this goes round again. */
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
            /* Slots are read before pins: a thread that pins a view is in it meanwhile.  So if its
             * slot is found empty, its pin is seen. */
            if (tamis__has_visitor(view)) {
                view->retired = visited;
                visited = view;
            } else if (__atomic_load_n(&view->pins, __ATOMIC_SEQ_CST) != 0) {
                tamis__view_retire(filter, view); /* whoever unpins it comes by here again */
            } else {
                tamis__view_free(view);
            }
            view = next;
        }
        while (visited != NULL) {
            struct tamis__view *next = visited->retired;
            tamis__view_retire(filter, visited); /* from here on another thread may free it */
            again |= !tamis__has_visitor(visited);
            visited = next;
        }
    }
}

/* ---- Making ---------------------------------------------------------------------------------- */

struct tamis__view *tamis__view_new(uint32_t count, const struct tamis__policy *policy,
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

void tamis__segment_share(struct tamis__mapped_segment *to,
                          const struct tamis__mapped_segment *from)
{
    *to = *from;
    /* ORDER relaxed: the caller has a reference. */
    (void)__atomic_add_fetch(to->references, 1, __ATOMIC_RELAXED);
}

const struct tamis__mapped_segment *tamis__view_find(const struct tamis__view *view,
                                                     uint64_t number)
{
    for (uint32_t i = 0; view != NULL && i < view->count; i++)
        if (view->segments[i].segment.header->number == number) return &view->segments[i];
    return NULL;
}

/* Sets whether all segments have the same digest, or pair, of a key. */
static void choose_digests(struct tamis__view *view)
{
    const struct tamis__segment_header *newest = tamis__newest(view)->segment.header;
    view->by = tamis__header_digester(newest);
    view->digested = true;
    for (uint32_t i = 0; i < view->count; i++) {
        struct tamis__mapped_segment *s = &view->segments[i];
        const struct tamis__segment_header *h = s->segment.header;
        const struct tamis__hash_set *set = tamis__hash_set_by_id(h->hash_set);
        const bool has = set->digest != NULL || set->pair != NULL;
        s->calls = has && s->kind->by_digest != NULL ? s->kind->by_digest(h) : NULL;
        view->digested &= s->calls != NULL && h->hash_set == newest->hash_set &&
                          h->seed == newest->seed &&
                          memcmp(h->parameters, newest->parameters, sizeof h->parameters) == 0;
    }
}

bool tamis__view_goes_on(uint64_t next)
{
    return next == 0 || tamis__next_spare(next) != 0;
}

/* Sets whether a single key may take the short path, to be asked for and to be added. */
static void choose_ways(struct tamis__view *view, bool read_only)
{
    choose_digests(view);
    view->is_lone = view->count == 1 && view->index.segment.header == NULL;
    view->is_short =
        view->is_lone && view->digested && view->slice_ns == 0 && view->policy.key_rule[0] == '\0';
    view->takes_short = view->is_short && !read_only && tamis__view_goes_on(view->next) &&
                        view->policy.slices == 0 && view->rotate_at == INT64_MAX;
}

/* Sets when each slice is past.  That is no later than for the slices after it: the clock may have
 * been wrong when this slice began, and right when they did. */
static void set_past(struct tamis__view *view)
{
    int64_t past_at = INT64_MAX;
    for (uint32_t i = view->count; i-- > 0;) {
        struct tamis__mapped_segment *s = &view->segments[i];
        const int64_t own = tamis__policy_past_at(&view->policy, s->segment.header->slice_start);
        s->past_at = past_at = own < past_at ? own : past_at;
    }
}

void tamis__view_complete(struct tamis__view *view, bool read_only)
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
    for (view->first = 0; tamis__policy_is_behind(
             policy, view->segments[view->first].segment.header->slice, newest->slice);)
        view->first++;
    set_past(view);
    choose_ways(view, read_only);
    tamis__view_choose_pages(view, read_only);
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

/*
 * Makes `next` of the newest segment say what it should: nothing, or its spare.  The spare may be
 * entered at any moment, so a right word, or one that will be right, is not overwritten.  A wrong
 * number is there if the store was copied while it was written to.
 */
static void link_newest(const struct tamis__segment *newest, const struct tamis__record *record)
{
    const uint64_t spare =
        record->spare_count > 0 ? record->segments[record->segment_count].number : 0;
    uint64_t is = tamis__segment_next(newest);
    while (is != 0 && is != spare && (spare == 0 || tamis__next_spare(is) != spare) &&
           !(is == TAMIS__NEXT_REFUSE && record->policy.on_full == TAMIS_ON_FULL_REFUSE) &&
           !__atomic_compare_exchange_n(&newest->live->next, &is, 0, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST)) /* ORDER: as tamis__segment_leave. */
        continue;
    if (spare != 0) tamis__segment_offer(newest, spare); /* its maker may have died before this */
}

/*
 * Makes each segment but the newest name the segment after it, before anybody who has the list
 * adds: the publisher may have died before it could do so (docs/concurrency.md).  Makes the newest
 * segment name the exceptions in force, and the publication since which it is in force itself.  The
 * caller holds the catalog's lock.
 */
static void link_segments(struct tamis__view *view, const struct tamis__record *record)
{
    const struct tamis__segment *newest = &tamis__newest(view)->segment;
    /* ORDER seq_cst, as in tamis__segment_tell().  The words are written in the order of
     * tell_of_list() in txn/commit.c. */
    if (tamis__segment_exceptions(newest) != record->exceptions)
        __atomic_store_n(&newest->live->exceptions, record->exceptions, __ATOMIC_SEQ_CST);
    if (tamis__segment_in_force(newest) < record->publication)
        __atomic_store_n(&newest->live->in_force, record->publication, __ATOMIC_SEQ_CST);
    for (uint32_t i = 0; i + 1 < view->count; i++) {
        const struct tamis__segment *segment = &view->segments[i].segment;
        const uint64_t right = view->segments[i + 1].segment.header->number;
        if (tamis__segment_next(segment) != right) /* ORDER: as tamis__segment_leave. */
            __atomic_store_n(&segment->live->next, right, __ATOMIC_SEQ_CST);
    }
    link_newest(newest, record);
}

int tamis__view_take_index(struct tamis_store *store, uint64_t number, uint64_t filter_id,
                           const struct tamis__view *old, struct tamis__view *view)
{
    if (number == 0) return 0;
    if (old == NULL || old->index.segment.header == NULL ||
        old->index.segment.header->number != number)
        return tamis__open_index(store, number, filter_id, &view->index);
    tamis__segment_share(&view->index, &old->index);
    return 0;
}

#define WHY_BYTES 1024

/* A file that cannot be used is told by the name of its filter, which the user knows. */
static int name_filter(const struct tamis__record *record, int rc)
{
    char why[WHY_BYTES], name[TAMIS__QUOTED_BYTES];
    if (rc != TAMIS_ECORRUPT && rc != TAMIS_EVERSION && rc != TAMIS_EFOREIGN) return rc;
    (void)snprintf(why, sizeof why, "%s", tamis_last_error());
    return tamis__fail(rc, "filter %s: %s", tamis__quote(name, record->name), why);
}

/* Gives `view` the segments of the record and its exceptions: shares those that `old` has, and maps
 * the others. */
static int take_segments(struct tamis_store *store, const struct tamis__record *record,
                         unsigned how, const struct tamis__view *old, struct tamis__view *view)
{
    const bool writable = (how & TAMIS__VIEW_READ_ONLY) == 0;
    int rc = tamis__view_take_index(store, record->exceptions, record->filter_id, old, view);
    for (uint32_t i = 0; rc == 0 && i < record->segment_count; i++) {
        const struct tamis__mapped_segment *have =
            tamis__view_find(old, record->segments[i].number);
        struct tamis__mapped_segment *segment = &view->segments[i];
        if (have != NULL)
            tamis__segment_share(segment, have);
        else if (how & TAMIS__VIEW_UNLOCKED)
            rc = tamis__map_recorded(store, record, i, writable, segment);
        else
            rc = tamis__open_segment(store, record, i, writable, segment);
        if (rc == 0) view->count++;
    }
    return name_filter(record, rc);
}

int tamis__view_make(struct tamis_store *store, const struct tamis__record *record, unsigned how,
                     const struct tamis__view *old, struct tamis__view **out)
{
    const bool read_only = (how & TAMIS__VIEW_READ_ONLY) != 0;
    const bool locked = (how & TAMIS__VIEW_UNLOCKED) == 0;
    struct tamis__view *view =
        tamis__view_new(record->segment_count, &record->policy, record->fp_rate);
    if (view == NULL) return TAMIS_ENOMEM;
    const int rc = take_segments(store, record, how, old, view);
    if (rc < 0) {
        tamis__view_free(view);
        return rc;
    }
    if (!read_only && locked) link_segments(view, record);
    const struct tamis__segment *newest = &tamis__newest(view)->segment;
    /* Without the lock, a publisher may have raised the epoch and not have committed yet. */
    view->epoch = tamis__segment_epoch(newest) - !locked;
    view->next = tamis__segment_next(newest);
    if (record->spare_count > 0 && view->next == record->segments[record->segment_count].number)
        view->next |= TAMIS__NEXT_SPARE; /* a spare was entered: followed at the next look */
    view->exceptions = tamis__segment_exceptions(newest);
    view->publication = record->publication;
    tamis__view_complete(view, read_only);
    if (view->limit != UINT64_MAX) tamis__room_adopt(newest);
    *out = view;
    return 0;
}

/* ---- All segments of a view ------------------------------------------------------------------ */

uint64_t tamis__view_items(const struct tamis__view *view)
{
    uint64_t items = 0;
    for (uint32_t i = 0; i < view->count; i++)
        items += tamis__segment_items(&view->segments[i].segment);
    return items;
}

uint32_t tamis__view_count_record(const struct tamis__view *view, struct tamis__record *record)
{
    uint32_t known = 0;
    for (uint32_t i = 0; i < record->segment_count; i++) {
        const struct tamis__mapped_segment *s = tamis__view_find(view, record->segments[i].number);
        if (s == NULL) continue;
        record->segments[i].items = tamis__segment_items(&s->segment);
        known++;
    }
    tamis__record_sum_capacity(record);
    return known;
}

struct tamis__trouble tamis__view_trouble(const struct tamis__view *view)
{
    struct tamis__trouble trouble = {0};
    for (uint32_t i = 0; i < view->count; i++)
        tamis__add_trouble(&trouble, view->segments[i].segment.header);
    return trouble;
}

bool tamis__view_is_stale(const struct tamis__view *view)
{
    bool stale = false;
    for (uint32_t i = 0; i < view->count; i++)
        stale = stale || tamis__mark_is_stale(view->segments[i].segment.live);
    return stale;
}

int tamis__view_populate(const struct tamis__view *view)
{
    int rc = tamis__segment_populate(&view->index.segment);
    for (uint32_t i = 0; rc == 0 && i < view->count; i++)
        rc = tamis__segment_populate(&view->segments[i].segment);
    return rc;
}

void tamis__view_populate_new(const struct tamis_filter *filter, const struct tamis__view *view,
                              struct tamis__view_numbers before)
{
    if (!filter->populate) return;
    /* Segments that are made later have greater numbers; only a rollback goes back to lower ones.
     */
    const uint64_t newest = tamis__newest(view)->segment.number;
    const uint64_t known = newest < before.newest ? 0 : before.highest;
    if (view->index.segment.number > known) (void)tamis__segment_populate(&view->index.segment);
    for (uint32_t i = 0; i < view->count; i++)
        if (view->segments[i].segment.number > known)
            (void)tamis__segment_populate(&view->segments[i].segment);
}

int tamis__fail_dropped(const struct tamis_filter *filter)
{
    return tamis__fail(TAMIS_EDROPPED,
                       "the filter '%s' of the store %s was dropped while it was open; close this "
                       "handle",
                       filter->name, filter->store->place.path);
}

int tamis__fail_read_only(const struct tamis_filter *filter)
{
    return tamis__fail(TAMIS_EREADONLY,
                       "the filter '%s' of the store %s is open read-only; open it for writing",
                       filter->name, filter->store->place.path);
}
