/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * add_key.h: adds one key to a list of segments: what add.c, chunk.c and durable.c share.  An add
 * goes to the newest segment of the view.  If that has a limit, a new key first takes room there
 * (segment/room.h).
 */
#pragma once

#include "handle/flight.h"
#include "handle/hashed.h"
#include "handle/points.h"
#include "kind/points.h"
#include "plan/policy.h"
#include "segment/live.h"
#include "segment/room.h"

/*
 * The index of the first segment that has to be asked whether a key needs to be added.  A window
 * that counts from the last add asks the newest slice alone: a key of an older one is added again.
 * One that counts from the first asks all that are in the window.  Never view->count.
 */
static inline uint32_t tamis__first_known(const struct tamis__view *view)
{
    if (view->policy.window_from == 0) return view->slice_first;
    const uint32_t first = tamis__first_alive(view);
    return first < view->slice_first ? first : view->slice_first;
}

/* Is a key that only an older slice has added again? */
static inline bool tamis__view_renews(const struct tamis__view *view)
{
    return view->policy.slices != 0 && view->policy.window_from == 0;
}

/* Does the newest segment refuse new keys?  Its own word is read: the view learns of it under the
 * catalog's lock, which may take long. */
static inline bool tamis__view_refuses(const struct tamis__view *view)
{
    return tamis__segment_next(&tamis__newest(view)->segment) == TAMIS__NEXT_REFUSE;
}

/* Does the newest segment have a limit?  Then a new key takes room first (segment/room.h). */
static inline bool tamis__view_is_limited(const struct tamis__view *view)
{
    return view->limit != UINT64_MAX;
}

/* Called after a key was won in the newest segment: has the list gone on meanwhile? */
static inline bool tamis__won_in_vain(const struct tamis__view *view)
{
    TAMIS__POINT(TAMIS__POINT_ADD_WON);
    if (TAMIS__NO_RECHECK) return false;
    tamis__fence_after_rmw();
    return __builtin_expect(tamis__segment_is_left(&tamis__newest(view)->segment), 0);
}

/* Is there something to do before the next key is added?  The newest segment may be unmarked or
 * half granted, or its slice over. */
static inline bool tamis__has_chores(const struct tamis__view *view)
{
    /* ORDER relaxed: a hint; the chores are checked again when they are done. */
    return __builtin_expect(__atomic_load_n(&view->chores, __ATOMIC_RELAXED) != 0, 0) ||
           tamis__view_is_over(view);
}

/* Does it change nothing to add a key that the filter has? */
bool tamis__ignores_known(const struct tamis__view *view);
/* Does the chores of a view, whatever the keys are. */
int tamis__do_chores(struct tamis_filter *filter, struct tamis__view **view);

/* Takes room for up to `wanted` keys in the newest segment of a view with a limit. hold->keys is
 * what it got. */
void tamis__take_many(struct tamis__view *view, uint32_t wanted, struct tamis__hold *hold);
/* Goes to the segment that comes after the newest one of the view, and makes it ready to be written
 * to. */
int tamis__go_to_next(struct tamis_filter *filter, struct tamis__view **at,
                      struct tamis__flight *flight);
/* Goes to a segment with room: the newest one if room came back there, or else one after it. */
int tamis__go_to_room(struct tamis_filter *filter, struct tamis__view **at,
                      struct tamis__flight *flight);
/*
 * Adds one key.  `won` is the number of a segment in which the key was won already and that was
 * left meanwhile, or 0.  That segment, and those before it, say nothing about the key any more.
 * `counted`: the key is among the items of that segment.  Then it takes room in the next segment,
 * and is not counted again.
 */
int tamis__add_key(struct tamis_filter *filter, struct tamis__view **at,
                   struct tamis__flight *flight, uint64_t won, bool counted,
                   struct tamis__hashed_key *key);

/* Sets the sentence for a full filter.  TAMIS_EFULL. */
int tamis__fail_full(const struct tamis_filter *filter, const struct tamis__view *view);

/* Does a segment of the view have a key that tamis__hash_key() was called for? */
static inline int tamis__has_key(const struct tamis__view *view,
                                 const struct tamis__mapped_segment *s,
                                 const struct tamis__hashed_key *key)
{
    return view->digested ? s->calls->contains(&s->segment, key->digest)
                          : s->kind->contains(&s->segment, key->key, key->bytes);
}

/* Finds the newest of segments from .. end - 1 that has the key.  Returns its index plus 1, or
 * 0. */
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
