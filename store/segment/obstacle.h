/* SPDX-License-Identifier: BSD-2-Clause */
/* obstacle.h: why a segment that is to have huge pages has small ones. */
#pragma once

#include "segment/segment.h"

/* Why it has small ones.  The texts are constants. */
struct tamis__obstacle {
    const char *why;
    const char *mend;    /* what mends it */
    const char *command; /* NULL, or the command that does, with NAME for the name of the filter */
};

/*
 * Returns what is in the way.
 *
 * Nothing is guessed that can be tried: a few ranges of 2 MiB leave memory and come again, in this
 * process's mapping.  Others may use it meanwhile.
 */
const struct tamis__obstacle *tamis__pages_obstacle(const struct tamis__segment *segment);
