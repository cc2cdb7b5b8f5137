/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * states.h: the states that a search has entered.  A state is some bytes without holes, a multiple
 * of 8, the last of which is never 0.  Whole states are compared, not hashes of them, so a search
 * leaves nothing out.
 */
#ifndef TAMIS_TESTS_STATES_H
#define TAMIS_TESTS_STATES_H

#include <stdbool.h>
#include <stddef.h>

struct states {
    unsigned char *slot; /* in which the last byte is 0: free */
    size_t bytes;        /* of one state */
    size_t slots;        /* a power of two */
    size_t used;
};

void states_init(struct states *states, size_t bytes);
void states_clear(struct states *states);
/* True for a state that was not entered before. */
bool states_enter(struct states *states, const void *state);

#endif
