/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * add_key.c: adds one key to a list of segments, and takes room for it.
 *
 * An add goes to the newest segment, after the other segments were asked.  If the list went on
 * meanwhile, the win does not count: the adder goes on in the new newest segment.
 * docs/concurrency.md, "The list goes on", says why.
 */
#include "handle/add_key.h"

#include "handle/checkpoint.h"
#include "handle/follow.h"
#include "handle/grow.h"
#include "handle/pages.h"
#include "txn/wait.h"

#include <time.h>

/* In a window limited by time, there is room again when the next slice begins. */
static int fail_full_slice(const struct tamis_filter *filter, const struct tamis__view *view)
{
    const struct tamis__segment_header *newest = tamis__newest(view)->segment.header;
    const time_t next = (time_t)((newest->slice_start + view->slice_ns) / 1000000000 + 1);
    struct tm utc;
    char when[32] = "the next slice";
    if (gmtime_r(&next, &utc) != NULL)
        (void)strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return tamis__fail(TAMIS_EFULL,
                       "the newest slice of the filter '%s' holds its share of %llu of the %llu "
                       "keys of a window and refuses more until %s; wait until then, or make a "
                       "filter of a greater capacity, or one that grows (--on-full grow)",
                       filter->name, (unsigned long long)newest->capacity,
                       (unsigned long long)view->policy.capacity, when);
}

int tamis__fail_full(const struct tamis_filter *filter, const struct tamis__view *view)
{
    const uint64_t items = tamis__segment_items(&tamis__newest(view)->segment);
    const uint64_t capacity = view->policy.capacity;
    if (view->slice_ns > 0) return fail_full_slice(filter, view);
    if (view->count == 1 && items < capacity)
        return tamis__fail(
            TAMIS_EFULL,
            "the filter '%s' holds %llu of the %llu keys that it was made for and refuses more: "
            "adders that were killed, or are stopped, have taken room for the others; it "
            "comes back when the filter is next opened while nobody writes to it ('tamis sync')",
            filter->name, (unsigned long long)items, (unsigned long long)capacity);
    return tamis__fail(
        TAMIS_EFULL,
        "the filter '%s' holds the %llu key%s that it was made for and refuses more; "
        "make a larger one, or one that grows (--on-full grow)",
        filter->name, (unsigned long long)view->policy.capacity,
        tamis__plural(view->policy.capacity));
}

/* Called when half of the newest segment is granted: the next adder makes a spare, unless there is
 * one. */
static void want_spare(struct tamis__view *view)
{
    if (view->policy.on_full == TAMIS_ON_FULL_REFUSE && view->policy.window_items == 0) return;
    if (tamis__next_spare(tamis__segment_next(&tamis__newest(view)->segment)) != 0) return;
    /* ORDER relaxed: a hint. */
    (void)__atomic_fetch_or(&view->chores, TAMIS__CHORE_SPARE, __ATOMIC_RELAXED);
}

/* Takes room for one key in the newest segment.  If this returns false, the key is not counted. */
static bool take_one(struct tamis__view *view, struct tamis__hold *hold)
{
    bool passed_half = false;
    const struct tamis__segment *newest = &tamis__newest(view)->segment;
    if (tamis__room_take_one(newest, hold)) return true;
    const bool found = tamis__room_find_one(newest, view->limit, hold, &passed_half);
    if (passed_half) want_spare(view);
    tamis__view_watch_pages(view);
    return found;
}

void tamis__take_many(struct tamis__view *view, uint32_t wanted, struct tamis__hold *hold)
{
    bool passed_half = false;
    tamis__room_take(&tamis__newest(view)->segment, view->limit, wanted, hold, &passed_half);
    if (passed_half) want_spare(view);
}

/* Takes room for one key as take_one() does, but counts the key only if no other segment has
 * `counted` it. */
static bool take_room(struct tamis__view *view, bool counted, struct tamis__hold *hold)
{
    if (!counted) return take_one(view, hold);
    tamis__take_many(view, 1, hold);
    return hold->keys > 0;
}

static void give_room_back(const struct tamis__view *view, bool counted, struct tamis__hold hold)
{
    const struct tamis__segment *newest = &tamis__newest(view)->segment;
    if (counted)
        tamis__room_return(newest, hold);
    else
        tamis__room_return_one(newest, hold);
}

int tamis__go_to_next(struct tamis_filter *filter, struct tamis__view **at,
                      struct tamis__flight *flight)
{
    int rc = tamis__view_advance(filter, at);
    if (rc == 0) rc = tamis__view_mark(filter, *at);
    if (rc == 0 && flight != NULL) rc = tamis__flight_enter(flight, *at);
    return rc;
}

int tamis__go_to_room(struct tamis_filter *filter, struct tamis__view **at,
                      struct tamis__flight *flight)
{
    int rc = tamis__view_room_for_keys(filter, at);
    if (rc == 0) rc = tamis__view_mark(filter, *at);
    if (rc == 0 && flight != NULL) rc = tamis__flight_enter(flight, *at);
    return rc;
}

/*
 * Must the key be added?  Asks all segments from `from` on.  Returns 0 if a segment of the newest
 * slice has the key, or any segment if the window counts from the first add.  Otherwise returns 1,
 * and clears *is_new if an older slice has the key.
 */
static int needs_add(const struct tamis__view *view, uint32_t from,
                     const struct tamis__hashed_key *key, bool in_newest, bool *is_new)
{
    /* Most keys are in the newest segment.  In a window that segment may be left meanwhile: see
     * below. */
    if (in_newest && !tamis__view_renews(view)) return 0;
    const uint32_t found = tamis__find_key(view, from, view->count - 1, key);
    if (found > view->slice_first || (found != 0 && !tamis__view_renews(view))) return 0;
    if (found != 0) *is_new = false;
    return 1;
}

int tamis__add_key(struct tamis_filter *filter, struct tamis__view **at,
                   struct tamis__flight *flight, uint64_t won, bool counted,
                   struct tamis__hashed_key *key)
{
    bool is_new = true;
    for (;;) {
        struct tamis__view *view = *at;
        const struct tamis__mapped_segment *newest = tamis__newest(view);
        const struct tamis__mapped_segment *behind = won ? tamis__view_find(view, won) : NULL;
        const uint32_t from =
            behind ? (uint32_t)(behind - view->segments) + 1 : tamis__first_alive(view);
        struct tamis__hold hold = {0, 0};
        tamis__hash_key(view, key);
        const bool in_newest =
            (tamis__view_is_limited(view) || view->count > 1) && tamis__has_key(view, newest, key);
        if (needs_add(view, from, key, in_newest, &is_new) == 0) return 0;
        /* A key that an older slice has is known, though its life cannot begin again. */
        if (tamis__view_refuses(view) && !in_newest)
            return is_new ? tamis__fail_full(filter, view) : 0;
        if (tamis__view_is_limited(view) && !in_newest && !take_room(view, counted, &hold)) {
            const int rc = tamis__go_to_room(filter, at, flight);
            if (rc < 0) return rc;
            is_new |= won == 0; /* it is asked for anew: the window may have left the slice */
            continue;
        }
        /* A key that only an older slice has is not new, but it is added again. */
        const int added = in_newest ? 0
                          : view->digested
                              ? newest->calls->add(&newest->segment, key->digest)
                              : newest->kind->add(&newest->segment, key->key, key->bytes);
        if (added <= 0 && hold.keys > 0) give_room_back(view, counted, hold);
        if (added < 0) return added;
        const bool flipped = added > 0;
        if (!flipped && !tamis__view_renews(view)) return 0;
        is_new &= flipped; /* another adder won the key and may have been told NEW: this one must
                              not be */
        if (!tamis__won_in_vain(view)) {
            if (!flipped) return 0;
            if (!counted && hold.keys == 0) tamis__count_one(view);
            return is_new;
        }
        counted |= flipped && hold.keys > 0;
        won = newest->segment.header->number;
        const int rc = tamis__go_to_next(filter, at, flight);
        if (rc < 0) return rc;
    }
}

bool tamis__ignores_known(const struct tamis__view *view)
{
    return !tamis__view_is_over(view) && tamis__newest(view)->kind->count_batch == NULL;
}

/* Are all slices past?  Then nobody would find a key in the newest one. */
static bool is_past(const struct tamis__view *view)
{
    return tamis__first_alive(view) == view->count;
}

int tamis__do_chores(struct tamis_filter *filter, struct tamis__view **view)
{
    const int64_t started_ns = tamis__steady_ns();
    int rc = is_past(*view) ? 0 : tamis__view_renew(filter, view);
    while (rc == 0 && is_past(*view)) {
        rc = tamis__view_begin_slice(filter, view, started_ns);
        if (rc == 0 && is_past(*view) && !tamis__store_wait(filter->store, started_ns, -1))
            rc = tamis__fail_no_slice(filter, started_ns);
    }
    return rc < 0 ? rc : tamis__view_mark(filter, *view);
}
