/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live.h: the live words in the header of a segment, which others may have open: the epoch, which
 * sends handles to the catalog, and `next`, which says where the list of segments goes on.
 */
#pragma once

#include "segment/segment.h"

/* Reads the header of a segment that is not open, and checks nothing of it. */
int tamis__segment_peek(const struct tamis__place *place, uint64_t number,
                        struct tamis__segment_header *header);

/* The live words of a segment that is not open, and need not be sound. */
struct tamis__live_map {
    struct tamis__live *live; /* NULL if there is no file, or it is too short */
    int64_t created_at;       /* as the header says, whatever it is worth */
    void *map;
    uint64_t map_bytes;
};
int tamis__live_map(const struct tamis__place *place, uint64_t number,
                    struct tamis__live_map *words);
void tamis__live_unmap(struct tamis__live_map *words);
/* msync the part of the file that has the live words. */
int tamis__live_sync(const struct tamis__place *place, uint64_t number,
                     const struct tamis__live_map *words);
/* The same for an open segment: its live words, its counters and its name. */
int tamis__segment_sync_live(const struct tamis__segment *segment);

/*
 * Changes a live word of a segment that need not be open; `offset` is where the word stands in
 * struct tamis__live.  Otherwise as tamis__segment_raise_epoch.
 */
int tamis__segment_tell(const struct tamis__place *place, uint64_t number, size_t offset,
                        uint64_t value);

/* For the newest segment of the list in force: no other segment goes on after it any more, whatever
 * its `next` says.  It may refuse keys as before.  Otherwise as above. */
int tamis__segment_stay(const struct tamis__place *place, uint64_t number);

/*
 * Raises the epoch: every open handle looks at the catalog again before its next answer.  This
 * works on a segment that cannot be opened, since handles may have it mapped.  Returns 0 too if the
 * file does not exist or is too short for a header.
 */
int tamis__segment_raise_epoch(const struct tamis__place *place, uint64_t number);

/* Says which segment goes on after this one, unless `next` names one already; a spare does not
 * count.  The segment `next` is whole. */
void tamis__segment_leave(const struct tamis__segment *segment, uint64_t next);

/* A value of `next`: by the filter's policy, the newest segment is full and takes no more keys. */
#define TAMIS__NEXT_REFUSE UINT64_MAX
/* Takes TAMIS__NEXT_REFUSE back: the segment has room after all. */
void tamis__segment_take_again(const struct tamis__segment *segment);
/* A value of `next`: no segment ever goes on after this one, because the filter is dropped. */
#define TAMIS__NEXT_DROPPED (UINT64_MAX - 1)

/*
 * A spare: the segment with this number is whole, in the catalog, and waits to be entered after
 * this one.  The list does not go on in it yet, so NEXT_SPARE | number counts as 0 wherever the
 * list matters.  Numbers are far below 2^62.
 */
#define TAMIS__NEXT_SPARE ((uint64_t)1 << 62)
/* The number of the spare that a `next` names; 0 if it names none. */
static inline uint64_t tamis__next_spare(uint64_t next)
{
    return next >> 62 == 1 ? next & ~TAMIS__NEXT_SPARE : 0;
}
/* Offers a spare, if `next` is 0. */
void tamis__segment_offer(const struct tamis__segment *segment, uint64_t number);
/* Lets the list go on in the spare, if there is one.  Returns true if the list now goes on, by us
 * or by another adder. */
bool tamis__segment_enter_spare(const struct tamis__segment *segment);
/* Call under the exclusive lock, for a segment that need not be open: nobody enters its
 * spare any more.  Returns 1 if somebody has entered it already; 0 if there is no spare now,
 * or no such file. */
int tamis__segment_take_back(const struct tamis__place *place, uint64_t number);

static inline uint64_t tamis__segment_next(const struct tamis__segment *segment)
{
    /* ORDER acquire: pairs with tamis__segment_leave; the segment that it names is whole. */
    return __atomic_load_n(&segment->live->next, __ATOMIC_ACQUIRE);
}

static inline uint64_t tamis__segment_exceptions(const struct tamis__segment *segment)
{
    /* ORDER acquire: as tamis__segment_next. */
    return __atomic_load_n(&segment->live->exceptions, __ATOMIC_ACQUIRE);
}

/* The number of the publication that last put the list in force whose newest segment this is, or
 * that changed its exceptions. */
static inline uint64_t tamis__segment_in_force(const struct tamis__segment *segment)
{
    /* ORDER acquire: as tamis__segment_next. */
    return __atomic_load_n(&segment->live->in_force, __ATOMIC_ACQUIRE);
}

/* Has the list gone on after a segment with this `next`? */
static inline bool tamis__next_is_left(uint64_t next)
{
    return next != 0 && next != TAMIS__NEXT_REFUSE && tamis__next_spare(next) == 0;
}

/* Does another segment go on after it? */
static inline bool tamis__segment_is_left(const struct tamis__segment *segment)
{
    return tamis__next_is_left(tamis__segment_next(segment));
}

/* The epoch as published.  It stands in a shared cache line that is rarely written. */
static inline uint64_t tamis__segment_epoch(const struct tamis__segment *segment)
{
    /* ORDER acquire: pairs with the release in tamis__segment_raise_epoch.  Who sees the raise
     * goes to the catalog under the lock that the publisher still holds, so nothing else
     * depends on it. */
    return __atomic_load_n(&segment->live->epoch, __ATOMIC_ACQUIRE);
}
