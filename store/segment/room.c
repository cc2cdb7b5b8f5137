/* SPDX-License-Identifier: BSD-2-Clause */
/* room.c: see room.h. */
#include "segment/room.h"

#include <sched.h>

#include "base/thread.h"
#include "segment/points.h"

/* A lump is this part of what is left to grant.  So little is stranded on stripes that nobody
 * uses any more: with all 32 stripes in use, the lumps are at most half of what was left when
 * they were taken. */
#define LUMP_PART 64u
#define LUMP_MAX ((uint64_t)1 << 16)

/* The stripe on which this thread counts while it adds a batch under a hold.  A value below 0
 * stands for the stripe of its processor. */
static TAMIS__THREAD int held_stripe = -1;

static uint32_t own_stripe(const struct tamis__segment *segment)
{
    const int cpu = sched_getcpu(); /* a hint: any stripe is right, but its own is not contended */
    return cpu < 0 ? 0 : (uint32_t)cpu & (segment->stripe_count - 1);
}

uint64_t tamis__segment_count(const struct tamis__segment *segment, uint64_t items)
{
    const uint32_t stripe =
        held_stripe < 0 ? own_stripe(segment) : (uint32_t)held_stripe & (segment->stripe_count - 1);
    /* ORDER seq_cst: within a hold it comes before the hold is given back.  No reader infers other
     * memory from a count. */
    return __atomic_fetch_add(&segment->stripes[stripe].items, items, __ATOMIC_SEQ_CST);
}

struct tamis__hold tamis__room_no_hold(const struct tamis__segment *segment)
{
    return (struct tamis__hold){own_stripe(segment), 0};
}

void tamis__room_begin(const struct tamis__hold *hold)
{
    held_stripe = (int)hold->stripe;
}

/* ---- One stripe ------------------------------------------------------------------------------ */

/* The room of a stripe; it is below 0 where a merge counted items on the stripe. */
static int64_t room_of(const struct tamis__stripe *stripe)
{
    /* ORDER seq_cst: see take_one_of() and take_of(). */
    const uint64_t items = __atomic_load_n(&stripe->items, __ATOMIC_SEQ_CST);
    return (int64_t)(__atomic_load_n(&stripe->quota, __ATOMIC_SEQ_CST) - items);
}

/* Adds first and looks then: a batch that lowers the quota meanwhile finds our count, or we find
 * its quota.  The items are read again after the quota.  A batch that has ended since our addition
 * raised the quota after it had counted, so whoever sees that quota sees that count. */
static bool take_one_of(struct tamis__stripe *stripe)
{
    if (room_of(stripe) <= 0) return false;
    TAMIS__POINT(TAMIS__POINT_ROOM_SEEN);
    /* ORDER seq_cst: this comes before the look at the quota, which comes before the look
     * at the items. */
    (void)__atomic_fetch_add(&stripe->items, 1, __ATOMIC_SEQ_CST);
    TAMIS__POINT(TAMIS__POINT_ROOM_TAKEN);
    const uint64_t quota = __atomic_load_n(&stripe->quota, __ATOMIC_SEQ_CST);
    if (TAMIS__NO_ROOM_CHECK ||
        (int64_t)(quota - __atomic_load_n(&stripe->items, __ATOMIC_SEQ_CST)) >= 0)
        return true;
    (void)__atomic_sub_fetch(&stripe->items, 1, __ATOMIC_SEQ_CST);
    return false;
}

/* Lowers the quota first and looks then. */
static uint32_t take_of(struct tamis__stripe *stripe, uint32_t wanted)
{
    const int64_t room = room_of(stripe);
    if (room <= 0) return 0;
    TAMIS__POINT(TAMIS__POINT_ROOM_SEEN);
    const uint32_t keys = (uint64_t)room < wanted ? (uint32_t)room : wanted;
    /* ORDER seq_cst: this comes before the look at the items. */
    const uint64_t quota = __atomic_sub_fetch(&stripe->quota, keys, __ATOMIC_SEQ_CST);
    TAMIS__POINT(TAMIS__POINT_ROOM_TAKEN);
    if (TAMIS__NO_ROOM_CHECK ||
        (int64_t)(quota - __atomic_load_n(&stripe->items, __ATOMIC_SEQ_CST)) >= 0)
        return keys;
    (void)__atomic_add_fetch(&stripe->quota, keys, __ATOMIC_SEQ_CST);
    return 0;
}

/* ---- The segment ----------------------------------------------------------------------------- */

uint64_t tamis__room_left(const struct tamis__segment *segment, uint64_t limit)
{
    /* ORDER relaxed: the result is an estimate. */
    const uint64_t granted = __atomic_load_n(&segment->live->granted, __ATOMIC_RELAXED);
    return granted < limit ? limit - granted : 0;
}

bool tamis__room_is_left(const struct tamis__segment *segment, uint64_t limit)
{
    bool found = tamis__room_left(segment, limit) > 0;
    for (uint32_t i = 0; !found && i < segment->stripe_count; i++)
        found = room_of(&segment->stripes[i]) > 0;
    return found;
}

bool tamis__room_is_enough(const struct tamis__segment *segment, uint64_t limit, uint64_t keys)
{
    uint64_t room = tamis__room_left(segment, limit);
    for (uint32_t i = 0; room < keys && i < segment->stripe_count; i++) {
        const int64_t of_stripe = room_of(&segment->stripes[i]);
        if (of_stripe > 0) room += (uint64_t)of_stripe;
    }
    return room >= keys;
}

uint64_t tamis__room_of(const struct tamis__segment_header *header, uint64_t limit)
{
    /* ORDER relaxed: all of it may change at once. */
    const uint64_t granted = __atomic_load_n(&header->live.granted, __ATOMIC_RELAXED);
    const uint64_t items = tamis__header_items(header);
    uint64_t room = granted < limit ? limit - granted : 0;
    if (granted == 0) return items < limit ? limit - items : 0; /* see tamis__room_adopt() */
    for (uint32_t i = 0; i < tamis__header_stripes(header); i++) {
        const int64_t of_stripe = room_of(&header->items[i]);
        if (of_stripe > 0) room += (uint64_t)of_stripe;
    }
    return room;
}

uint64_t tamis__room_in_hands(const struct tamis__segment_header *header)
{
    /* ORDER seq_cst: whoever takes room after this look adds to a quota after it too. */
    const uint64_t granted = __atomic_load_n(&header->live.granted, __ATOMIC_SEQ_CST);
    uint64_t quotas = 0; /* an overflow of a sum of damaged words is no concern here */
    for (uint32_t i = 0; i < tamis__header_stripes(header); i++)
        quotas += __atomic_load_n(&header->items[i].quota, __ATOMIC_SEQ_CST);
    return quotas < granted ? granted - quotas : 0;
}

void tamis__room_regain(const struct tamis__segment *segment, uint64_t keys)
{
    /* ORDER seq_cst: as in grant(). */
    (void)__atomic_sub_fetch(&segment->live->granted, keys, __ATOMIC_SEQ_CST);
}

/* Grants the stripe another lump, of at least `wanted` keys if as many are left.  Returns false if
 * nothing is left. */
static bool grant(const struct tamis__segment *segment, uint64_t limit, uint32_t wanted,
                  struct tamis__stripe *stripe)
{
    uint64_t *granted = &segment->live->granted;
    uint64_t is = __atomic_load_n(granted, __ATOMIC_SEQ_CST), lump;
    do {
        if (is >= limit) return false;
        const uint64_t left = limit - is;
        lump = left / LUMP_PART < LUMP_MAX ? left / LUMP_PART : LUMP_MAX;
        if (lump < wanted) lump = wanted;
        if (lump > left) lump = left;
        /* ORDER seq_cst: room counts as granted before it is used. */
    } while (!__atomic_compare_exchange_n(granted, &is, is + lump, false, __ATOMIC_SEQ_CST,
                                          __ATOMIC_SEQ_CST));
    TAMIS__POINT(TAMIS__POINT_ROOM_GRANTED);
    (void)__atomic_add_fetch(&stripe->quota, lump, __ATOMIC_SEQ_CST);
    return true;
}

static void look_at_half(const struct tamis__segment *segment, uint64_t limit, bool *passed_half)
{
    if (tamis__room_left(segment, limit) <= limit / 2) *passed_half = true;
}

bool tamis__room_take_one(const struct tamis__segment *segment, struct tamis__hold *hold)
{
    *hold = (struct tamis__hold){own_stripe(segment), 1};
    return take_one_of(&segment->stripes[hold->stripe]);
}

bool tamis__room_find_one(const struct tamis__segment *segment, uint64_t limit,
                          struct tamis__hold *hold, bool *passed_half)
{
    struct tamis__stripe *stripes = segment->stripes;
    const uint32_t own = own_stripe(segment);
    bool found = take_one_of(&stripes[own]);
    *hold = (struct tamis__hold){own, 1};
    while (!found && grant(segment, limit, 1, &stripes[own]))
        found = take_one_of(&stripes[own]);
    look_at_half(segment, limit, passed_half);
    for (uint32_t i = 1; !found && i < segment->stripe_count; i++) {
        hold->stripe = (own + i) & (segment->stripe_count - 1);
        found = take_one_of(&stripes[hold->stripe]);
    }
    if (!found) hold->keys = 0;
    return found;
}

void tamis__room_return_one(const struct tamis__segment *segment, struct tamis__hold hold)
{
    (void)__atomic_sub_fetch(&segment->stripes[hold.stripe].items, 1, __ATOMIC_SEQ_CST);
}

void tamis__room_take(const struct tamis__segment *segment, uint64_t limit, uint32_t wanted,
                      struct tamis__hold *hold, bool *passed_half)
{
    struct tamis__stripe *stripes = segment->stripes;
    const uint32_t own = own_stripe(segment);
    *hold = (struct tamis__hold){own, take_of(&stripes[own], wanted)};
    if (hold->keys == wanted) return;
    if (hold->keys > 0) /* take more at once, where there is more */
        (void)__atomic_add_fetch(&stripes[own].quota, hold->keys, __ATOMIC_SEQ_CST);
    bool more = grant(segment, limit, wanted, &stripes[own]);
    hold->keys = take_of(&stripes[own], wanted);
    while (hold->keys == 0 && more) { /* a merge counted items here, or another adder was faster */
        more = grant(segment, limit, wanted, &stripes[own]);
        hold->keys = take_of(&stripes[own], wanted);
    }
    look_at_half(segment, limit, passed_half);
    for (uint32_t i = 1; hold->keys == 0 && i < segment->stripe_count; i++) {
        hold->stripe = (own + i) & (segment->stripe_count - 1);
        hold->keys = take_of(&stripes[hold->stripe], wanted);
    }
}

void tamis__room_return(const struct tamis__segment *segment, struct tamis__hold hold)
{
    /* ORDER seq_cst: this comes after the items were counted. */
    (void)__atomic_add_fetch(&segment->stripes[hold.stripe].quota, hold.keys, __ATOMIC_SEQ_CST);
}

void tamis__room_end(const struct tamis__segment *segment, struct tamis__hold hold)
{
    held_stripe = -1;
    tamis__room_return(segment, hold);
}

void tamis__room_write_off(const struct tamis__segment *segment, uint64_t keys)
{
    /* ORDER seq_cst: this comes before the items are counted, so that granted is never
     * below the items. */
    (void)__atomic_add_fetch(&segment->live->granted, keys, __ATOMIC_SEQ_CST);
}

void tamis__room_write_off_lost(const struct tamis__segment *segment, uint64_t keys)
{
    uint64_t *granted = &segment->live->granted;
    const uint64_t items = tamis__segment_items(segment);
    uint64_t used = keys > items ? keys - items : 0;
    for (uint32_t i = 0; i < segment->stripe_count; i++) {
        const struct tamis__stripe *stripe = &segment->stripes[i];
        const uint64_t counted = __atomic_load_n(&stripe->items, __ATOMIC_SEQ_CST);
        const uint64_t quota = __atomic_load_n(&stripe->quota, __ATOMIC_SEQ_CST);
        used += counted > quota ? counted : quota;
    }
    uint64_t is = __atomic_load_n(granted, __ATOMIC_SEQ_CST);
    while (is < used && !__atomic_compare_exchange_n(granted, &is, used, false, __ATOMIC_SEQ_CST,
                                                     __ATOMIC_SEQ_CST))
        continue;
}

void tamis__room_cover(const struct tamis__segment *segment, struct tamis__hold hold,
                       uint64_t written_off, uint64_t items)
{
    /* ORDER seq_cst: this comes after the items were counted, so that no part of the hold seems
     * free in between. */
    (void)__atomic_add_fetch(&segment->stripes[hold.stripe].quota, items, __ATOMIC_SEQ_CST);
    (void)__atomic_sub_fetch(&segment->live->granted, written_off - items, __ATOMIC_SEQ_CST);
}

void tamis__room_charge(const struct tamis__segment *segment, uint64_t limit, uint64_t items)
{
    struct tamis__hold hold;
    bool passed_half;
    while (items > 0) {
        tamis__room_take(segment, limit, items < UINT32_MAX ? (uint32_t)items : UINT32_MAX, &hold,
                         &passed_half);
        if (hold.keys == 0) break;
        (void)__atomic_add_fetch(&segment->stripes[hold.stripe].items, hold.keys,
                                 __ATOMIC_SEQ_CST); /* ORDER: before the hold is given back */
        tamis__room_return(segment, hold);
        items -= hold.keys;
    }
    hold = tamis__room_no_hold(segment);
    tamis__room_write_off(segment, items);
    (void)__atomic_add_fetch(&segment->stripes[hold.stripe].items, items, __ATOMIC_SEQ_CST);
    tamis__room_cover(segment, hold, items, items);
}

void tamis__room_adopt(const struct tamis__segment *segment)
{
    uint64_t none = 0, items[TAMIS__STRIPES];
    const uint64_t sum = tamis__segment_items(segment);
    if (sum == 0 || __atomic_load_n(&segment->live->granted, __ATOMIC_SEQ_CST) != 0) return;
    for (uint32_t i = 0; i < segment->stripe_count; i++)
        items[i] = __atomic_load_n(&segment->stripes[i].items, __ATOMIC_SEQ_CST);
    /* One of the processes that open the segment does this, before anybody takes room: nobody adds
     * to a segment that has items while its granted is 0. */
    if (__atomic_compare_exchange_n(&segment->live->granted, &none, sum, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST))
        for (uint32_t i = 0; i < segment->stripe_count; i++)
            (void)__atomic_add_fetch(&segment->stripes[i].quota, items[i], __ATOMIC_SEQ_CST);
}
