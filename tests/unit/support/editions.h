/* SPDX-License-Identifier: BSD-2-Clause */
/* editions.h: generations without a build: segments of plain kinds, filled and published. */
#ifndef TAMIS_UNIT_EDITIONS_H
#define TAMIS_UNIT_EDITIONS_H

#include "filter/publish.h"
#include "keys.h"

/* A blocked filter at 1e-6 of the keys from, from + 1, ... (as 8 bytes), put in force under that
 * name. */
int editions_publish(tamis_store *store, const char *name, uint64_t from, uint64_t count,
                     const struct tamis__exceptions *by_hand,
                     const struct tamis__exceptions *found);

/* The same, only over what is in force by that: TAMIS__MOVED if it is something else. */
int editions_publish_over(tamis_store *store, const char *name, uint64_t from, uint64_t count,
                          struct tamis__over over);

/*
 * Generations of the filter "list", each known by a number g: its keys are the EDITIONS_KEYS from
 * g * EDITIONS_KEYS on.
 */
#define EDITIONS_KEYS 1000u
void editions_put(tamis_store *store, int g);
/* Generation 0, whose build has found that this key must answer absent. */
void editions_put_excepting(tamis_store *store, uint64_t found);
/* Which of generations 0 .. 9 has all its keys in the filter: -1 none, 100 several. */
int editions_answering(tamis_filter *filter);
/* The number that the store gave to the generation that is in force. */
uint64_t editions_in_force(tamis_store *store);

#endif
