/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * light.h: asks small filters that are closed, and leaves them closed (tamis_keys.h, "Small filters
 * that are not open").
 *
 *     UNKNOWN   nobody has looked: it is looked for in the store at the first question
 *     LIT       value->light is its light handle
 *     NONE      it must be opened: it is no such filter, or has changed
 *
 * handles.c makes the light handle of a filter when it closes it, in the place in the value that
 * the ring had.  The main thread asks.
 */
#pragma once

#include "value/value.h"

/* The store that filters are sought in. */
void light_set_store(tamis_store *of);
/*
 * Of a key's name all that is known is a hash, and a filter that had a key of that hash before: so
 * these are hints.  A question to one of a million filters waits for memory at each step from the
 * key to the bits, and the server has done the first of these steps when it gives us the value.
 *
 *     light_foresee   a command with such a key has been read, and is about to be run
 *     light_fetch     it is run, and the server has not looked for the key yet
 */
void light_foresee(uint64_t hash);
void light_fetch(uint64_t hash);
/*
 * Asks a filter of BF.* that is closed.  `hash` is that of its key's name.  Returns 1 if answers[i]
 * are the answers for the items; 0: the value must be opened to be asked, or has nothing in the
 * store.
 */
int light_ask(struct value *value, uint64_t hash, const struct tamis_key *items, size_t count,
              uint8_t *answers);
/* Unmaps the drawer that has the segment of that number. */
void light_forget(uint64_t number);
/* Unmaps drawers that are gone, and those that nobody has asked for a minute or two: some of them
 * at each call, of which there are ten a second. */
void light_tidy(void);
/* How many drawers are mapped. */
uint64_t light_drawers(void);
