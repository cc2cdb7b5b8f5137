/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flight.h: flights.  A flight is an add to a durable filter between its first bit and the sync of
 * its log.  While one is in the air, a key that others find may not be on the disk yet.
 */
#pragma once

#include "handle/view.h"

/* The number of keys of a batch that are handled together; their answers and digests are on the
 * stack. */
#define TAMIS__CHUNK 1024u

/* The segments whose `unlogged` a call has raised, and which of them each key was added to. */
#define TAMIS__FLIGHT_MAX 16u
struct tamis__flight {
    uint64_t numbers[TAMIS__FLIGHT_MAX];
    uint32_t count;
    uint8_t current;             /* index in numbers of the segment that is written to */
    uint8_t where[TAMIS__CHUNK]; /* index of the last segment that each key was added to */
};
/* In `where`: the key was added to none, and is on the disk. */
#define TAMIS__FLIGHT_NOWHERE ((uint8_t)TAMIS__FLIGHT_MAX)

/* Enters the newest segment of the view into the flight, unless it is in it already.  Must be
 * called before a bit of it is set. */
int tamis__flight_enter(struct tamis__flight *flight, const struct tamis__view *view);

/* Ends the flight.  `landed`: all of its keys are in logs that were synced.  Otherwise it is
 * abandoned. */
void tamis__flight_end(struct tamis__flight *flight, const struct tamis__view *view, bool landed);
/* Is no other flight in the air?  Called after keys were found. */
bool tamis__flight_is_alone(const struct tamis__flight *flight, const struct tamis__view *view);
/* What a flight does to one segment when it begins and when it ends, for callers without one. */
void tamis__unlogged_raise(const struct tamis__segment *segment);
void tamis__unlogged_lower(const struct tamis__segment *segment);
/* Abandons the add: a checkpoint takes its count off, as that of a process that died. */
void tamis__unlogged_crash(const struct tamis__segment *segment);
