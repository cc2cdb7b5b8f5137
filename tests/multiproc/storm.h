/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * storm.h: a writer of the catalog that is killed again and again, and knows what must be there all
 * the same.
 *
 * What it was told is done stands in memory that outlives it; what it was in the middle of stands
 * there as begun.  Its successor finds either all of that or nothing of it.
 */
#ifndef TAMIS_MULTIPROC_STORM_H
#define TAMIS_MULTIPROC_STORM_H

#include <stdbool.h>
#include <stdint.h>

#include "tamis.h"

#define STORM_NAMES 6u /* filters that come and go, of one writer */

enum storm_state { STORM_ABSENT, STORM_PRESENT, STORM_BEGUN };

struct storm_name {
    enum storm_state state;
    uint32_t twin;   /* begun by a rename: the other one, plus 1 */
    uint64_t serial; /* of the filter that has the name: its keys are of no other */
    uint64_t keys;   /* that were added, and told so */
};

/* Zeroed; in memory that the processes share. */
struct storm_writer {
    struct storm_name names[STORM_NAMES];
    uint64_t serials;
    uint64_t list_done, list_begun; /* generations of its list */
    uint64_t excepted_done, excepted_begun;
    uint64_t window_key, window_moves; /* begun since that key was added */
    uint64_t operations[8]; /* done: create, drop, rename, sync, publish, rotate, grow, except */
};

/* Check all that the one before has left, then change it at random, for ever. */
void storm_write(tamis_store *store, unsigned number, struct storm_writer *writer, uint64_t random);

/* Only the check. */
void storm_check(tamis_store *store, unsigned number, struct storm_writer *writer);

#endif
