/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * grow.c: a filter goes on in another segment: because the newest segment is full (growth), or
 * because its time or share of the window is over (rotation).
 *
 * Growth makes spares ahead of need.  A spare is an empty segment that adders enter when the newest
 * one is full.  Once half of the newest segment is granted (segment/room.h), an adder that passes
 * by makes the next spare, while the other half fills.
 *
 *     guard      flock on the newest segment's file: one process makes the spares
 *     stage      make their files, allocated in full, without the catalog's lock
 *     catalog    take the exclusive lock, if it is free, and check that the segment is still the
 *                newest; then name the files, take out what the window has left behind, commit
 *     offer      write into the newest segment which spare comes after it
 *     enter      an adder that finds no room exchanges the offer for the number: all adders go on
 *                there, without a lock and without the catalog
 *
 * If the maker is killed before the commit, there is no spare.  If it is killed after the commit,
 * the next process that opens the filter for writing or looks for a spare makes the offer.  An
 * adder that finds neither room nor a spare makes one itself.  If it cannot have the locks, it
 * waits for as long as the store's busy timeout says, and then gives up: it never adds without
 * room.
 *
 * A rotation by the clock, or on request, makes the segment and leaves the newest one for it at
 * once, under the lock (`leave`).  If it cannot have the lock, adders go on in the old slice, whose
 * room is limited too.  If all slices are past, nobody would find a key in the old slice: then
 * adders wait, as for room.
 */
#include "handle/grow.h"

#include <math.h>

#include "exchange/exchange.h"
#include "exchange/redisbloom.h"
#include "handle/follow.h"
#include "handle/points.h"
#include "hash/hash_set.h"
#include "plan/plan.h"
#include "plan/policy.h"
#include "segment/room.h"
#include "txn/commit.h"
#include "txn/draft.h"
#include "txn/files.h"
#include "txn/points.h"
#include "txn/spares.h"
#include "txn/store.h"
#include "txn/wait.h"
#include "txn/write.h"

/* A rotation waits this long for the locks; the sync of a disk takes some ms. */
#define WAIT_NS 1000000000
#define PAUSE_US 200
/* A process that holds the guard for longer than this counts as stopped: others then make the spare
 * beside it.  Those whose busy timeout is short wait for half of that. */
#define GUARD_NS 1000000000
#define NS_PER_MS 1000000
/* If the locks are taken, or the disk is full, adders with room look for a spare again after this
 * time. */
#define AGAIN_NS 50000000
/*
 * Room that others hold may come back at once.  So before a segment is left, it is looked at this
 * many times again, with pauses of PAUSE_US / 4.  There are more looks if much of its room is held.
 */
#define HELD_LOOKS 4u
#define MUCH_HELD_LOOKS 40u

/* Several spares are made at once if the filter fills so fast that one would be full within
 * AHEAD_NS.  Only the first may be larger than this. */
#define SPARE_BYTES_MAX ((uint64_t)32 << 20)
#define AHEAD_NS 1e9
/* A view that has seen few keys does not show how long they come at that speed.  So it foresees
 * this many times as many, at most: a filter of 1,000 keys does not make a segment for millions. */
#define FORESEEN 8

enum reason { FULL, TIME_IS_OVER, FORCED };

struct growth {
    struct tamis_filter *filter;
    struct tamis__view *view;
    enum reason reason;
    int64_t now;
    int64_t deadline; /* steady ns: until then a rotation waits, if it can also be left out */
    /* The time at which the waiting for room, or for a slice, began; it lasts for the busy timeout.
     * 0: there is room, or a slice, and growth does not wait. */
    int64_t started_ns;
    uint64_t newest; /* number of the segment that is left */
    struct tamis__draft drafts[TAMIS__SPARES_MAX];
    uint32_t count;
    struct tamis__numbers remove; /* files to be removed after the commit */
};

/* ---- What the next segment is ---------------------------------------------------------------- */

/*
 * Returns the share of the filter's rate that is left for the next segment, after the segments of
 * the slice and the drafted spares that come before it.  By adds, a segment never holds more than
 * it was made for.  If more keys came in by other ways, such as a merge, the later segments share
 * what is left then, at least a sixteenth of what was planned.
 */
static double rate_left(const struct growth *change)
{
    const struct tamis__view *view = change->view;
    const double whole = tamis__policy_rate(&view->policy);
    double planned = 0, spent = 0, spares = 0;
    for (uint32_t i = view->slice_first; i < view->count; i++) {
        const struct tamis__segment *s = &view->segments[i].segment;
        const struct tamis__segment_header *h = s->header;
        const struct tamis__hash_set *set = tamis__hash_set_by_id(h->hash_set);
        if (set == NULL || !set->any_kind) continue; /* imported, at a rate of its own */
        planned += tamis__double_from_bits(h->fp_rate);
        spent += tamis_predict_rate(h->kind, h->m_bits, h->k, tamis__segment_items(s));
    }
    for (uint32_t i = 0; i < change->count; i++)
        spares += tamis__double_from_bits(change->drafts[i].header.fp_rate);
    /* The first segment had the whole rate: the filter was not to grow when it was made. */
    if (planned + spares >= whole)
        return tamis__policy_left(&view->policy,
                                  tamis__newest(view)->segment.header->step + change->count);
    return fmax(whole - spares - fmax(planned, spent), (whole - spares - planned) / 16);
}

/* The segments that are in the window, and the drafts. */
static struct tamis__policy_list list_of(const struct growth *change)
{
    const struct tamis__view *view = change->view;
    struct tamis__policy_list list = {0};
    for (uint32_t i = tamis__first_alive(view); i < view->count; i++) {
        const struct tamis__segment *s = &view->segments[i].segment;
        tamis__policy_list_add(&list, s->header->slice, tamis__segment_items(s));
    }
    for (uint32_t i = 0; i < change->count; i++)
        tamis__policy_list_add(&list, change->drafts[i].header.slice, 0);
    return list;
}

/* Describes the next layer of a filter that grows as RedisBloom does (exchange/redisbloom.c). */
static int describe_layer(const struct tamis__segment_header *last, struct tamis__layer *next)
{
    const int rc = tamis__redisbloom_next(last, next);
    next->segment.step = last->step + 1;
    return rc;
}

/* Describes the segment that comes after the newest one and the spares that are drafted. */
static int describe_next(const struct growth *change, struct tamis__layer *layer)
{
    struct tamis__listed_segment *next = &layer->segment;
    const struct tamis__policy *policy = &change->view->policy;
    const struct tamis__segment_header *newest = tamis__newest(change->view)->segment.header;
    const struct tamis__segment_header *last =
        change->count > 0 ? &change->drafts[change->count - 1].header : newest;
    const struct tamis__hash_set *set = tamis__hash_set_by_id(newest->hash_set);
    const bool same = set != NULL && set->any_kind;
    const bool grows = change->reason == FULL && policy->window_items == 0;
    const struct tamis__policy_list list = list_of(change);
    struct tamis__plan plan = {.sizing.kind = same ? newest->kind : TAMIS_KIND_BLOCKED,
                               .hash_set = same ? set : tamis__hash_set_by_id(TAMIS__HASH_XXH3),
                               .bit_order = TAMIS__BITS_LSB_FIRST,
                               .seed = same ? newest->seed : 0,
                               .policy = *policy};
    *layer = (struct tamis__layer){.flags = 0};
    if (change->reason == FULL && last->step >= TAMIS__STEP_MAX) /* an imported stream can say so */
        return tamis__fail(TAMIS_ELIMIT,
                           "the filter '%s' has grown %u times, the most there can be",
                           change->filter->name, last->step);
    if (!grows && last->slice >= TAMIS__SLICE_MAX) /* as above */
        return tamis__fail(TAMIS_ELIMIT,
                           "the window of the filter '%s' has moved %llu times, the most there can "
                           "be",
                           change->filter->name, (unsigned long long)last->slice);
    if (change->reason == FULL && tamis__redisbloom_grows(last)) return describe_layer(last, layer);
    if (same) memcpy(plan.parameters, newest->parameters, sizeof plan.parameters);
    const int rc = grows ? tamis__policy_size_next(policy, &list, last->capacity, rate_left(change),
                                                   &plan.sizing)
                         : tamis__policy_size_slice(policy, &list, &plan.sizing);
    if (rc < 0) return rc;
    tamis__plan_describe(&plan, next);
    next->step = grows ? last->step + 1 : 0;
    next->slice = grows ? newest->slice : last->slice + 1;
    next->slice_start = grows ? newest->slice_start
                              : tamis__policy_next_slice(policy, newest->slice_start, change->now);
    return 0;
}

static int draft_next(struct growth *change, const struct tamis__layer *next)
{
    struct tamis__draft *draft = &change->drafts[change->count];
    tamis__draft_init(change->filter->store, change->filter->name, &next->segment, draft);
    memcpy(draft->header.kept, next->kept, sizeof draft->header.kept);
    const int rc = tamis__draft_stage(change->filter->store, draft);
    if (rc == 0) change->count++;
    return rc;
}

/* Estimates how many keys will come within AHEAD_NS for which the newest segment has no room.  They
 * come at the speed that this view has seen, but at most FORESEEN times as many as it has seen. */
static double keys_to_come(const struct tamis__view *view)
{
    const uint64_t left = tamis__room_left(&tamis__newest(view)->segment, view->limit);
    const double keys = (double)view->left_at_first - (double)left;
    const double time = (double)(tamis__steady_ns() - view->made_at) + 1;
    return keys <= 0 ? 0 : keys * fmin(AHEAD_NS / time, FORESEEN) - (double)left;
}

/* Drafts one spare, and more of them if one would soon be full. */
static int draft_spares(struct growth *change)
{
    double keys = keys_to_come(change->view);
    int rc = 0;
    do {
        struct tamis__layer next;
        rc = describe_next(change, &next);
        if (rc == 0 && change->count > 0 && next.segment.m_bits / 8 > SPARE_BYTES_MAX) break;
        if (rc == 0) rc = draft_next(change, &next);
        keys -= (double)next.segment.capacity;
    } while (rc == 0 && change->count < TAMIS__SPARES_MAX && keys > 0 &&
             change->view->policy.slices == 0 &&
             change->view->count + change->count < TAMIS__SEGMENTS_MAX);
    return rc < 0 && change->count == 0 ? rc : 0; /* one spare is enough */
}

/* ---- The list -------------------------------------------------------------------------------- */

/* Counts the oldest segments, which the window leaves behind when `slice` is the newest slice. */
static uint32_t count_left_behind(const struct growth *change, const struct tamis__record *record,
                                  uint64_t slice)
{
    const struct tamis__policy *policy = &record->policy;
    const int64_t length = tamis__policy_slice_ns(policy);
    uint32_t count = 0;
    if (policy->slices == 0) return 0;
    for (; count + 1 < record->segment_count; count++) {
        const struct tamis__listed_segment *s = &record->segments[count];
        const bool late = length > 0 && s->slice_start + length + policy->window_ns <= change->now;
        if (!late && s->slice + policy->slices >= slice) break;
    }
    return count;
}

/*
 * Makes the drafts fit into the list: gives up spares beyond the first if it has no places for
 * them. Some places are kept for the slices of a window that are still to come.  A segment by which
 * a slice grows takes none of these.
 */
static int fit_into_list(struct growth *change, const struct tamis__record *before, uint32_t behind)
{
    const struct tamis__policy_list list = tamis__policy_list_of(before, behind);
    const bool grows = change->drafts[0].header.slice == list.slice;
    const uint32_t places =
        grows ? tamis__policy_places(&before->policy, &list) : TAMIS__SEGMENTS_MAX - list.count;
    while (change->count > 1 && change->count > places)
        tamis__drafts_discard(change->filter->store, &change->drafts[--change->count], 1);
    if (places > 0) return 0;
    return tamis__fail(TAMIS_ELIMIT,
                       "the filter '%s' has %u segments, the most there can be; make a new one of "
                       "a greater capacity",
                       before->name, TAMIS__SEGMENTS_MAX);
}

/*
 * Commits the drafts, under the exclusive lock, while the newest segment still is the newest.  For
 * growth they become spares of the record, which has none.  For a rotation the only draft becomes
 * the newest segment.  The segments that the window has left behind are removed.
 */
static int publish_growth(struct growth *change, struct tamis__catalog_txn *txn,
                          struct tamis__record *before)
{
    const bool leaves = change->reason != FULL;
    (void)tamis__view_count_record(change->view, before); /* for listings */
    int rc = tamis__view_check(change->view);
    if (rc < 0) return rc;
    const uint64_t slice =
        leaves ? change->drafts[0].header.slice : before->segments[before->segment_count - 1].slice;
    struct tamis__record after = *before;
    after.published_at = change->now;
    struct tamis__commit commit = {.store = change->filter->store,
                                   .txn = txn,
                                   .before = before,
                                   .after = &after,
                                   .come = leaves ? TAMIS__COME_BEHIND : TAMIS__COME_SPARES,
                                   .drafts = change->drafts,
                                   .behind = count_left_behind(change, before, slice),
                                   .left = &tamis__newest(change->view)->segment,
                                   .remove = &change->remove};
    rc = fit_into_list(change, before, commit.behind);
    commit.count = change->count;
    if (rc == 0) rc = tamis__commit(&commit);
    if (rc == 0) tamis__remove_files(commit.store, &change->remove); /* the rest is garbage */
    return rc;
}

/* ---- Locks ----------------------------------------------------------------------------------- */

/* If the record has a segment after this one, writes its number into this one.  If the record has
 * another list, the epoch has told the handles already. */
static void tell_next(const struct tamis__segment *segment, const struct tamis__record *record)
{
    for (uint32_t i = 0; i + 1 < record->segment_count; i++)
        if (record->segments[i].number == segment->header->number)
            tamis__segment_leave(segment, record->segments[i + 1].number);
}

/* Makes the change, with the catalog's exclusive lock.  Returns 1 if there is a spare or another
 * list, or an error. */
static int change_held(struct growth *change, struct tamis__catalog_txn *txn)
{
    struct tamis_store *store = change->filter->store;
    const struct tamis__segment *newest = &tamis__newest(change->view)->segment;
    struct tamis__record record;
    int rc = tamis__store_get_by_id(store, txn, change->filter->filter_id, &record);
    if (rc == TAMIS_ENOTFOUND) return tamis__fail_dropped(change->filter);
    if (rc == 0 && change->reason != FULL)
        rc = tamis__spares_take_back(store, txn, &record, &change->remove);
    if (rc < 0) return rc;
    if (record.segments[record.segment_count - 1].number != change->newest) {
        tell_next(newest, &record); /* its maker died before it wrote this */
        return 1;
    }
    if (record.spare_count > 0)
        tamis__segment_offer(newest, record.segments[record.segment_count].number);
    else
        rc = publish_growth(change, txn, &record);
    return rc < 0 ? rc : 1;
}

/* Waits before the next try for the lock of a file; lock_fd -1 means the lock of the catalog. */
static bool waits_to_rotate(const struct growth *change, int lock_fd)
{
    if (change->started_ns != 0)
        return tamis__store_wait(change->filter->store, change->started_ns, lock_fd) != 0;
    tamis__pause_us(PAUSE_US);
    return tamis__steady_ns() < change->deadline;
}

/* Waits before the next try for the catalog's lock.  Returns false if the lock is given up or not
 * needed any more. */
static bool waits(const struct growth *change)
{
    const struct tamis__segment *newest = &tamis__newest(change->view)->segment;
    if (change->reason != FULL) return waits_to_rotate(change, -1);
    return change->started_ns != 0 && tamis__segment_next(newest) == 0 &&
           !tamis__room_is_left(newest, change->view->limit) &&
           tamis__store_wait(change->filter->store, change->started_ns, -1) != 0;
}

/* Returns 1 as change_held() does, or 0 if the catalog's lock cannot be had. */
static int change_staged(struct growth *change)
{
    struct tamis_store *store = change->filter->store;
    struct tamis__catalog_txn *txn;
    TAMIS__POINT(TAMIS__POINT_GROW_STAGED);
    int rc = tamis__store_begin_write_if_free(store, &txn);
    while (rc == 0 && waits(change))
        rc = tamis__store_begin_write_if_free(store, &txn);
    if (rc <= 0) return rc;
    rc = change_held(change, txn);
    tamis__catalog_end(txn);
    return rc;
}

static void begin_change(struct tamis_filter *filter, struct tamis__view *view, enum reason reason,
                         int64_t wait_ns, struct growth *change)
{
    change->filter = filter;
    change->view = view;
    change->reason = reason;
    change->now = tamis__clock_ns();
    change->deadline = tamis__steady_ns() + wait_ns;
    change->newest = tamis__newest(view)->segment.header->number;
    change->started_ns = 0;
    change->count = 0;
    change->remove = (struct tamis__numbers){.list = NULL};
}

static void end_change(struct growth *change)
{
    tamis__drafts_discard(change->filter->store, change->drafts, change->count);
    free(change->remove.list);
}

/* Has another process held the guard for so long that it counts as stopped?  Then this one works
 * without the guard, which only saves that two make the same spare. */
static bool is_guard_passed(const struct tamis_store *store, int64_t started_ns)
{
    /* ORDER relaxed: a number by itself. */
    const int64_t timeout_ms = __atomic_load_n(&store->busy_timeout_ms, __ATOMIC_RELAXED);
    const int64_t half_ns = timeout_ms * NS_PER_MS / 2;
    return started_ns != 0 &&
           tamis__steady_ns() - started_ns >= (half_ns < GUARD_NS ? half_ns : GUARD_NS);
}

/* ---- Growth ---------------------------------------------------------------------------------- */

/*
 * Makes a spare for the newest segment.  Returns 1 if there is one now, or the segment was left; 0
 * if the locks are taken. started_ns is as in struct growth; 0 means not to wait. *lock_fd is the
 * lock to wait for.
 */
static int make_spare(struct tamis_filter *filter, struct tamis__view *view, int64_t started_ns,
                      struct tamis__private_fd *guard, int *lock_fd)
{
    const struct tamis__segment *newest = &tamis__newest(view)->segment;
    struct growth change;
    int rc = is_guard_passed(filter->store, started_ns)
                 ? 1
                 : tamis__segment_guard(&filter->store->place, newest->header->number, guard);
    *lock_fd = guard->fd;
    if (rc == TAMIS_ENOTFOUND) return 1; /* the window has left it, or the filter was dropped */
    if (rc <= 0) return rc;
    *lock_fd = -1;
    if (tamis__segment_next(newest) != 0) return 1; /* made by the former holder */
    begin_change(filter, view, FULL, 0, &change);
    change.started_ns = started_ns;
    rc = draft_spares(&change);
    if (rc == 0) rc = change_staged(&change);
    end_change(&change);
    return rc;
}

static bool has_spare(const struct tamis__view *view)
{
    return tamis__next_spare(tamis__segment_next(&tamis__newest(view)->segment)) != 0;
}

/* Does the chore TAMIS__CHORE_SPARE.  The newest segment still has room.  So if no spare can be
 * made now, this is tried again later, or an adder that finds no room makes it. */
void tamis__view_look_for_spare(struct tamis_filter *filter, struct tamis__view *view)
{
    struct tamis__private_fd guard = {.fd = -1};
    int lock_fd;
    /* ORDER relaxed: these are hints; what is done is decided under the locks. */
    const int64_t again_at = __atomic_load_n(&view->spare_at, __ATOMIC_RELAXED);
    if (!has_spare(view) && again_at != 0 && tamis__steady_ns() < again_at) return;
    const int rc = has_spare(view) ? 1 : make_spare(filter, view, 0, &guard, &lock_fd);
    tamis__private_close(&guard);
    if (rc > 0)
        (void)__atomic_fetch_and(&view->chores, ~TAMIS__CHORE_SPARE, __ATOMIC_RELAXED);
    else
        __atomic_store_n(&view->spare_at, tamis__steady_ns() + AGAIN_NS, __ATOMIC_RELAXED);
}

/*
 * Do other adders hold room that they may give back in a moment?  Pauses if so.  `at_least_once`:
 * also if the items say that the segment is full, as some adders may be about to take their items
 * back.
 */
static bool is_held(const struct tamis__view *view, bool at_least_once, unsigned *looks)
{
    const uint64_t items = tamis__segment_items(&tamis__newest(view)->segment);
    const bool much = items < view->limit - view->limit / 8;
    if (items >= view->limit && !at_least_once) return false;
    if (*looks >= (much ? MUCH_HELD_LOOKS : HELD_LOOKS)) return false;
    ++*looks;
    tamis__pause_us(PAUSE_US / 4);
    return true;
}

static int refuse_keys(struct tamis_filter *filter, struct tamis__view **view, unsigned *looks)
{
    if (is_held(*view, true, looks)) return 0;
    tamis__segment_leave(&tamis__newest(*view)->segment, TAMIS__NEXT_REFUSE);
    return tamis__view_follow(filter, view);
}

static int fail_to_grow(const struct tamis_filter *filter, int64_t started_ns, int lock_fd)
{
    char what[TAMIS_NAME_MAX + 80];
    (void)snprintf(what, sizeof what, "the filter '%s' is full and cannot grow now", filter->name);
    return tamis__fail_busy(filter->store, started_ns, lock_fd, what);
}

int tamis__view_room_for_keys(struct tamis_filter *filter, struct tamis__view **view)
{
    const int64_t started_ns = tamis__steady_ns();
    const uint64_t full = tamis__newest(*view)->segment.header->number;
    struct tamis__private_fd guard = {.fd = -1};
    unsigned looks = 0;
    int rc = 0, lock_fd = -1;
    while (rc == 0 && tamis__newest(*view)->segment.header->number == full &&
           !tamis__room_is_left(&tamis__newest(*view)->segment, (*view)->limit)) {
        struct tamis__view *v = *view;
        if (v->policy.on_full == TAMIS_ON_FULL_REFUSE && v->policy.window_items == 0) {
            rc = refuse_keys(filter, view, &looks);
            if (tamis__segment_next(&tamis__newest(*view)->segment) == TAMIS__NEXT_REFUSE) break;
        } else if (has_spare(v) && is_held(v, false, &looks)) {
            continue;
        } else if (tamis__segment_enter_spare(&tamis__newest(v)->segment)) {
            TAMIS__POINT(TAMIS__POINT_GROW_LEFT);
            rc = tamis__view_advance(filter, view);
        } else {
            rc = make_spare(filter, v, started_ns, &guard, &lock_fd);
            if (rc == 0 && !tamis__store_wait(filter->store, started_ns, lock_fd))
                rc = fail_to_grow(filter, started_ns, lock_fd);
            else if (rc > 0) /* there is a spare now, or another list */
                rc = tamis__view_follow(filter, view);
        }
    }
    tamis__private_close(&guard);
    return rc;
}

/* ---- Rotation -------------------------------------------------------------------------------- */

/* Waits for the guard.  As for growth, a process that holds it for too long counts as stopped.
 * Returns 1 if the change can be made, 0 if the list goes on already, or an error. */
static int wait_for_guard(const struct growth *change, struct tamis__private_fd *guard)
{
    const struct tamis__segment *newest = &tamis__newest(change->view)->segment;
    int rc = tamis__segment_guard(&change->filter->store->place, change->newest, guard);
    while (rc == 0 && !tamis__segment_is_left(newest)) {
        if (is_guard_passed(change->filter->store, change->started_ns)) return 1;
        if (!waits_to_rotate(change, guard->fd)) return change->started_ns == 0;
        rc = tamis__segment_guard(&change->filter->store->place, change->newest, guard);
    }
    return rc;
}

/* started_ns is as in struct growth. */
static int begin_next_slice(struct tamis_filter *filter, struct tamis__view **view,
                            enum reason reason, int64_t started_ns)
{
    struct tamis__private_fd guard = {.fd = -1};
    struct tamis__layer next;
    struct growth change;
    begin_change(filter, *view, reason, WAIT_NS, &change);
    change.started_ns = started_ns;
    int rc = wait_for_guard(&change, &guard);
    const bool gone = rc == TAMIS_ENOTFOUND; /* the window has left it, or the filter was dropped */
    if (rc > 0 && !tamis__segment_is_left(&tamis__newest(*view)->segment)) {
        rc = describe_next(&change, &next);
        if (rc == 0) rc = draft_next(&change, &next);
        if (rc == 0) rc = change_staged(&change);
    }
    end_change(&change);
    tamis__private_close(&guard);
    if (rc < 0 && !gone) return rc;
    if (rc != 0 || tamis__segment_is_left(&tamis__newest(*view)->segment)) {
        rc = reason == FORCED || gone ? tamis__view_advance(filter, view)
                                      : tamis__view_follow(filter, view);
        if (rc < 0 || tamis__newest(*view)->segment.header->number != change.newest) return rc;
    }
    /* ORDER relaxed: a hint, so that not every key waits. */
    __atomic_store_n(&(*view)->wait_until, tamis__steady_ns() + WAIT_NS, __ATOMIC_RELAXED);
    return 0;
}

int tamis__view_renew(struct tamis_filter *filter, struct tamis__view **view)
{
    /* ORDER relaxed: these are hints; what is done is decided under the locks. */
    const int64_t wait_until = __atomic_load_n(&(*view)->wait_until, __ATOMIC_RELAXED);
    if (tamis__view_is_over(*view) && (wait_until == 0 || tamis__steady_ns() >= wait_until)) {
        const int rc = begin_next_slice(filter, view, TIME_IS_OVER, 0);
        if (rc < 0) return rc;
    }
    if ((__atomic_load_n(&(*view)->chores, __ATOMIC_RELAXED) & TAMIS__CHORE_SPARE) &&
        !__atomic_load_n(&filter->is_prepared, __ATOMIC_RELAXED))
        tamis__view_look_for_spare(filter, *view);
    return 0;
}

int tamis__fail_no_slice(const struct tamis_filter *filter, int64_t started_ns)
{
    char what[TAMIS_NAME_MAX + 64];
    (void)snprintf(what, sizeof what, "the filter '%s' cannot begin a slice", filter->name);
    return tamis__fail_busy(filter->store, started_ns, -1, what);
}

int tamis__view_begin_slice(struct tamis_filter *filter, struct tamis__view **view,
                            int64_t started_ns)
{
    return begin_next_slice(filter, view, TIME_IS_OVER, started_ns);
}

TAMIS_API int tamis_filter_rotate(tamis_filter *filter)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    if (filter->read_only) return tamis__fail_read_only(filter);
    struct tamis__view *view;
    const int64_t started_ns = tamis__steady_ns();
    int rc = tamis__visit(filter, &view);
    if (rc < 0) return rc;
    if (view->policy.slices == 0)
        rc = tamis__fail(TAMIS_EUNSUPPORTED,
                         "the filter '%s' has no window to move; make one with a window",
                         filter->name);
    const uint64_t newest = tamis__newest(view)->segment.header->number;
    if (rc == 0) rc = begin_next_slice(filter, &view, FORCED, started_ns);
    if (rc == 0 && tamis__newest(view)->segment.header->number == newest)
        rc = tamis__fail_no_slice(filter, started_ns);
    return (int)tamis__leave_with(filter, view, rc);
}
