/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flight.h: flights.  A flight is an add to a durable filter between its first bit and the sync of
 * its log.  While one is in the air, a key that others find may not be on the disk yet.
 */
#ifndef TAMIS_HANDLE_FLIGHT_H
#define TAMIS_HANDLE_FLIGHT_H

#include "handle/view.h"

/* Keys of a batch that are handled together; what goes on the stack for a list of segments. */
#define TAMIS__CHUNK 1024u

/* A call between its first bit and the sync of its log: the segments whose `unlogged` it has
 * raised. */
#define TAMIS__FLIGHT_MAX 16u
struct tamis__flight {
    uint64_t numbers[TAMIS__FLIGHT_MAX];
    uint32_t count;
    uint8_t current;             /* index in numbers of the one that is written to */
    uint8_t where[TAMIS__CHUNK]; /* of each key of the chunk: the last that it was added to, as such
                                    an index */
};

/* Before a bit of the view's newest segment is set, unless it is in the flight already. */
int tamis__flight_enter(struct tamis__flight *flight, const struct tamis__view *view);

/* All of it is in logs that were synced (`landed`), or what it counted never lands. */
void tamis__flight_end(struct tamis__flight *flight, const struct tamis__view *view, bool landed);
/* After keys were found to be in: is no adder but this flight's in the air? */
bool tamis__flight_is_settled(const struct tamis__flight *flight, const struct tamis__view *view);
/* The steps of one segment, for what has no flight. */
void tamis__unlogged_raise(const struct tamis__segment *segment);
void tamis__unlogged_lower(const struct tamis__segment *segment);
/* It never lands: what it has counted is taken off like that of a dead one. */
void tamis__unlogged_crash(const struct tamis__segment *segment);

#endif
