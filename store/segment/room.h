/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * room.h: room, the number of keys that a segment may still take.  An adder takes room before it
 * sets the first bit of a new key.  So a segment never holds more keys than its limit, however
 * many processes add to it, however large their batches are, and wherever they are stopped or
 * killed.  The limit is divided among stripes: item counters in the header, one for each of 32
 * groups of processors.  A hold is the room that one batch has taken.  A lump is what a stripe is
 * given at once.
 *
 *     granted                 how much of the limit the stripes were given, or was used otherwise
 *     stripe: quota           this stripe's part of it, less what batches hold at the moment
 *     stripe: items           the new keys that were counted on it
 *
 *     one key                 items + 1, if the items stay within the quota;  then the bits
 *     a batch of n            quota - n, if the items stay within the rest;   then the bits,
 *                             items + new, quota + n
 *     a stripe without room   granted + a lump, if that stays within the limit; then quota + lump
 *     nothing left to grant   the other stripes are asked, one by one
 *
 * Each adder that takes room adds to one word of the stripe, and looks at both words then.  If it
 * finds that it went too far, it takes its addition back.  All of this is sequentially consistent,
 * so of two adders that went too far together at least one finds it.  Items never fall while the
 * bits of their keys may be set, and a batch counts before it gives its hold back.
 * docs/concurrency.md, "Room", has the proof; room_model checks every interleaving.
 *
 * An adder that dies leaves behind what it held: the segment seems full a little earlier, never
 * later.
 */
#pragma once

#include "segment/segment.h"

/*
 * A single add counts its key before it sets the bits, and may take that back; a remove lowers the
 * counters before the count.  This many threads of one handle may stand between the two steps, or
 * have died there, and nothing is said of that.
 */
#define TAMIS__ITEMS_AHEAD 64u

/* Adds to the item count, on the stripe of this processor, or of the thread's hold;
 * UINT64_MAX takes one away.  Returns what the stripe held before. */
uint64_t tamis__segment_count(const struct tamis__segment *segment, uint64_t items);

/* The hold of an adder: room for `keys` keys, which it took from one stripe. */
struct tamis__hold {
    uint32_t stripe;
    uint32_t keys; /* 0: nothing */
};

/* Takes room for one key and counts the key already.  Returns false if this processor's stripe has
 * no room; then tamis__room_find_one() looks further. */
bool tamis__room_take_one(const struct tamis__segment *segment, struct tamis__hold *hold);
/* The same, from wherever there is room.  *passed_half is as in tamis__room_take(). */
bool tamis__room_find_one(const struct tamis__segment *segment, uint64_t limit,
                          struct tamis__hold *hold, bool *passed_half);
/* Gives the room back: the key was not new after all. */
void tamis__room_return_one(const struct tamis__segment *segment, struct tamis__hold hold);

/*
 * Takes room for up to `wanted` keys: hold->keys, which is 0 if none is left.  *passed_half is set
 * if more than half of the limit has been granted; it is left alone otherwise.
 */
void tamis__room_take(const struct tamis__segment *segment, uint64_t limit, uint32_t wanted,
                      struct tamis__hold *hold, bool *passed_half);
/* Makes a hold of no keys, on this processor's stripe. */
struct tamis__hold tamis__room_no_hold(const struct tamis__segment *segment);
/* Between these two calls tamis__segment_count() counts what this thread adds on the stripe of the
 * hold. */
void tamis__room_begin(const struct tamis__hold *hold);
/* Call when the batch is counted: gives its hold back, and what it did not use is free again. */
void tamis__room_end(const struct tamis__segment *segment, struct tamis__hold hold);
/* The same for a hold that was not begun, as nothing was added under it.  The hold of a key that is
 * in this segment and is counted in another one is never given back. */
void tamis__room_return(const struct tamis__segment *segment, struct tamis__hold hold);

/* Counts items that are in the segment already, as a merge does.  They take the room that there is,
 * and exceed the limit if there is none.  After that nobody else finds room. */
void tamis__room_charge(const struct tamis__segment *segment, uint64_t limit, uint64_t items);
/*
 * The same if nobody knows how many of the keys are new.  First call write_off() for all of them.
 * Then add them between tamis__room_begin() and tamis__room_end(), with a hold of no keys.  Then
 * call cover() with the number of those that were counted.
 */
void tamis__room_write_off(const struct tamis__segment *segment, uint64_t keys);
/* Call after the machine went down, with the number of keys that the bits show, whatever the items
 * say.  It takes the room of those that are not counted.  The call may be repeated. */
void tamis__room_write_off_lost(const struct tamis__segment *segment, uint64_t keys);
void tamis__room_cover(const struct tamis__segment *segment, struct tamis__hold hold,
                       uint64_t written_off, uint64_t items);

/* Returns what is left to grant.  It is an estimate of the room: too low by the room that the
 * stripes have not used. */
uint64_t tamis__room_left(const struct tamis__segment *segment, uint64_t limit);

/* Is there room for a key, granted or not? */
bool tamis__room_is_left(const struct tamis__segment *segment, uint64_t limit);
/* Is there room for so many keys? */
bool tamis__room_is_enough(const struct tamis__segment *segment, uint64_t limit, uint64_t keys);
/* The number of keys that there is room for now.  What batches hold at the moment is not among
 * them. */
uint64_t tamis__room_of(const struct tamis__segment_header *header, uint64_t limit);

/*
 * The room that was granted and that no stripe has: it is in the hands of adders, or was in those
 * of dead ones.  Only where nobody writes to the segment is it known to be lost.
 */
uint64_t tamis__room_in_hands(const struct tamis__segment_header *header);
/* Makes the room of `keys` keys free again that was lost: of tamis__room_in_hands(), as it was
 * found while nobody wrote.  Others may begin to write meanwhile. */
void tamis__room_regain(const struct tamis__segment *segment, uint64_t keys);

/* For a segment of a store that was written before there were reservations: its items have
 * no quota yet. */
void tamis__room_adopt(const struct tamis__segment *segment);
