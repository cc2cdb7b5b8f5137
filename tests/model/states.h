/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * states.h: what the programs of all models share: the states that a search has entered, and how
 * they begin and end.  A state is some bytes without holes, a multiple
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

/* calloc, or a message and exit(2). */
void *model_alloc(size_t count, size_t bytes);

/* Is the one argument --deep?  With none it is not; another ends the program with status 2. */
bool model_is_deep(int argc, char **argv);
/* Prints the last line; returns the exit status. */
int model_end(bool good);

#endif
