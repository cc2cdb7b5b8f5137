/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * segments.h: one key and a list of segments: what add.c, chunk.c and durable.c share.  An add goes
 * to the newest segment of the view; where that has a limit, a new key takes room there first
 * (file/room.h).
 */
#ifndef TAMIS_HANDLE_SEGMENTS_H
#define TAMIS_HANDLE_SEGMENTS_H

#include <stdint.h>

#include "base/point.h"
#include "file/room.h"
#include "handle/flight.h"
#include "handle/hashed.h"
#include "txn/policy.h"

/* Index of the first segment that the window still has.  It is view->count where time has passed by
 * all of them: nobody has added for as long as the window is. */
static inline uint32_t tamis__first_alive(const struct tamis__view *view)
{
    uint32_t first = view->first;
    if (view->slice_ns == 0) return first;
    const int64_t now = tamis__clock_ns();
    while (first < view->count &&
           tamis__policy_is_past(&view->policy, view->segments[first].segment.header->slice_start,
                                 now))
        first++;
    return first;
}

/* By the segment itself: the view learns of it under the catalog's lock, which may take long. */
static inline bool tamis__view_refuses(const struct tamis__view *view)
{
    return tamis__segment_next(&tamis__newest(view)->segment) == TAMIS__NEXT_REFUSE;
}

/* Does the newest segment have a limit?  Then a new key takes room first (file/room.h). */
static inline bool tamis__view_is_limited(const struct tamis__view *view)
{
    return view->limit != UINT64_MAX;
}

/* A segment was won: is the list still the one that ends there? */
static inline bool tamis__won_in_vain(const struct tamis__view *view)
{
    TAMIS__POINT(TAMIS__POINT_ADD_WON);
    if (TAMIS__NO_RECHECK) return false;
    tamis__fence_after_rmw();
    return __builtin_expect(tamis__segment_is_left(&tamis__newest(view)->segment), 0);
}

/* Is there something to do before the next key: is the newest segment unmarked, full, or over? */
static inline bool tamis__has_chores(const struct tamis__view *view)
{
    /* ORDER relaxed: a hint, looked at again where they are done. */
    return __builtin_expect(__atomic_load_n(&view->chores, __ATOMIC_RELAXED) != 0, 0) ||
           tamis__view_is_over(view);
}

/* Does a key that is in write nothing? */
bool tamis__ignores_known(const struct tamis__view *view);
/* The chores of a view, whatever the keys are. */
int tamis__do_chores(struct tamis_filter *filter, struct tamis__view **view);

/* Room for up to `wanted` keys in the newest segment, of a view with a limit: hold->keys. */
void tamis__take_many(struct tamis__view *view, uint32_t wanted, struct tamis__hold *hold);
/* To the segment that comes after the newest one of the view, which is ready to be written to then.
 * */
int tamis__go_further(struct tamis_filter *filter, struct tamis__view **at,
                      struct tamis__flight *flight);
/* To where there is room: in the newest segment, where some came back, or in one after it. */
int tamis__make_room(struct tamis_filter *filter, struct tamis__view **at,
                     struct tamis__flight *flight);
/*
 * Add one key.  `won` is the number of the segment that it has been won in already and that was
 * left meanwhile, or 0: that segment, and those before it, say nothing about it any more.
 * `counted`: it is among the items there; then it takes room in the next one, and is not counted
 * again.
 */
int tamis__add_key(struct tamis_filter *filter, struct tamis__view **at,
                   struct tamis__flight *flight, uint64_t won, bool counted,
                   struct tamis__hashed_key *key);

/* TAMIS_EFULL. */
int tamis__fail_full(const struct tamis_filter *filter, const struct tamis__view *view);

/* Does a segment of the view have a key that tamis__hash_key() was called for? */
static inline int tamis__has_key(const struct tamis__view *view,
                                 const struct tamis__store_segment *s,
                                 const struct tamis__hashed_key *key)
{
    return view->digested ? s->calls->contains(&s->segment, key->digest)
                          : s->kind->contains(&s->segment, key->key, key->bytes);
}

/* The newest of segments from .. end - 1 that has the key, plus 1; 0: none has. */
static inline uint32_t tamis__find_key(const struct tamis__view *view, uint32_t from, uint32_t end,
                                       const struct tamis__hashed_key *key)
{
    for (uint32_t i = end; i-- > from;)
        if (tamis__has_key(view, &view->segments[i], key)) return i + 1;
    return 0;
}

static inline void tamis__count_one(const struct tamis__view *view)
{
    TAMIS__POINT(TAMIS__POINT_COUNT);
    (void)tamis__segment_count(&tamis__newest(view)->segment, 1);
}

#endif
