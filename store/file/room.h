/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * room.h: reservations.  An adder takes room in a segment before it sets the first bit of a new
 * key, so a segment never holds more keys than its limit, however many processes add to it, however
 * large their batches are, and wherever they are stopped or killed.
 *
 *     granted                 how much of the limit the stripes have been given, or others have
 *                             used
 *     stripe: quota           this stripe's part of it, less what batches hold at the moment
 *     stripe: items           the new keys that were counted on it
 *
 *     one key                 items + 1, if the items stay within the quota;  then the bits
 *     a batch of n            quota - n, if the items stay within the rest;   then the bits, items
 *                             + new, quota + n
 *     a stripe without room   granted + a lump, if that stays within the limit; then quota + lump
 *     nothing left to grant   the other stripes are asked, one by one
 *
 * Each taker adds to one word of the stripe, and looks at both then; who finds that it went too far
 * takes its addition back.  All of it is sequentially consistent, so of two that went too far
 * together at least one finds it.  Items never fall while the bits of their keys may be set, and a
 * batch counts before it gives back. docs/concurrency.md, "Room", has the proof; room_model checks
 * every interleaving.
 *
 * An adder that dies leaves behind what it held: the segment seems full a little earlier, never
 * later.
 */
#ifndef TAMIS_FILE_ROOM_H
#define TAMIS_FILE_ROOM_H

#include "file/segment.h"

/* What an adder holds: so many keys of the room of one stripe. */
struct tamis__hold {
    uint32_t stripe;
    uint32_t keys; /* 0: nothing */
};

/* Room for one key, which is counted already: true.  False: this processor's stripe has none; then
 * tamis__room_find_one() looks further. */
bool tamis__room_take_one(const struct tamis__segment *segment, struct tamis__hold *hold);
/* The same from wherever there is room; *passed_half: as tamis__room_take(). */
bool tamis__room_find_one(const struct tamis__segment *segment, uint64_t limit,
                          struct tamis__hold *hold, bool *passed_half);
/* It was not new after all. */
void tamis__room_return_one(const struct tamis__segment *segment, struct tamis__hold hold);

/*
 * Room for up to `wanted` keys: hold->keys, 0 where none is left.  *passed_half is set where more
 * than half of the limit has been granted; it is left alone otherwise.
 */
void tamis__room_take(const struct tamis__segment *segment, uint64_t limit, uint32_t wanted,
                      struct tamis__hold *hold, bool *passed_half);
/* A hold of no keys, on this processor's stripe. */
struct tamis__hold tamis__room_no_hold(void);
/* Between these two calls tamis__segment_count() counts what this thread adds on the stripe of the
 * hold. */
void tamis__room_begin(const struct tamis__hold *hold);
/* The batch is counted: its hold is given back, and what it did not use is free again. */
void tamis__room_end(const struct tamis__segment *segment, struct tamis__hold hold);
/* The same of a hold that was not begun: nothing was added under it.  One of a key that is in, and
 * is counted elsewhere, is never given back. */
void tamis__room_return(const struct tamis__segment *segment, struct tamis__hold hold);

/* Count items that are in already, as a merge does: they take what room there is, and come on top
 * where there is none.  Then nobody else finds any. */
void tamis__room_charge(const struct tamis__segment *segment, uint64_t limit, uint64_t items);
/*
 * The same for keys of which it is not known how many are new: write_off() before, for all of them;
 * they are added between tamis__room_begin() and tamis__room_end() with a hold of no keys; then
 * cover() with those that were counted.
 */
void tamis__room_write_off(const struct tamis__segment *segment, uint64_t keys);
/* After the machine went down: so many keys are in, as the bits tell, whatever the items say.
 * There is no room for those that are not counted.  It may be done again. */
void tamis__room_write_off_lost(const struct tamis__segment *segment, uint64_t keys);
void tamis__room_cover(const struct tamis__segment *segment, struct tamis__hold hold,
                       uint64_t written_off, uint64_t items);

/* What is left to grant: an estimate of the room that is left, too low by what the stripes have
 * unused. */
uint64_t tamis__room_left(const struct tamis__segment *segment, uint64_t limit);

/* Is there room for a key, granted or not? */
bool tamis__room_is_left(const struct tamis__segment *segment, uint64_t limit);

/* A segment of a store that was written before there were reservations: its items have no quota
 * yet. */
void tamis__room_adopt(const struct tamis__segment *segment);

#endif
