/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rounds.h: how often a test repeats what chance decides.
 *
 * Each run of the tests does as many rounds as finds what is to be found; TAMIS_TEST_LONG=1 in the
 * environment asks for the count at which the promise was first measured (docs/testing.md).
 */
#ifndef TAMIS_SUPPORT_ROUNDS_H
#define TAMIS_SUPPORT_ROUNDS_H

#include <stdbool.h>
#include <stdlib.h>

static inline bool rounds_are_long(void)
{
    const char *wish = getenv("TAMIS_TEST_LONG");
    return wish != NULL && *wish == '1';
}

static inline unsigned rounds(unsigned usual, unsigned at_length)
{
    return rounds_are_long() ? at_length : usual;
}

#endif
