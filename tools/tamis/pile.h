/* SPDX-License-Identifier: BSD-2-Clause */
/* pile.h: copies of all keys of an input, for a call of the library that takes all at once. */
#pragma once

#include <stddef.h>

#include "tamis.h"

/* All zero is the empty pile.  The keys stand one behind the other.  They move while the pile
 * grows, so only their ends are kept. */
struct pile {
    char *bytes;
    size_t used;
    size_t room;
    size_t *ends;
    size_t count;
    size_t ends_room;
};

void pile_add(struct pile *pile, const struct tamis_key *key);
/* The keys; the caller frees them.  They point into the pile. */
struct tamis_key *pile_keys(const struct pile *pile);
void pile_clear(struct pile *pile);
