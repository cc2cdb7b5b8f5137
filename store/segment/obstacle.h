/* SPDX-License-Identifier: BSD-2-Clause */
/* obstacle.h: why a segment that is to have huge pages has small ones. */
#pragma once

#include "segment/segment.h"

/*
 * Returns what is in the way, and after a semicolon what mends it, in static storage.  Where that
 * is a command, it stands at the end, after a colon, with NAME for the name of the filter.
 *
 * Nothing is guessed that can be tried: a few ranges of 2 MiB leave memory and come again, in this
 * process's mapping.  Others may use it meanwhile.
 */
const char *tamis__pages_obstacle(const struct tamis__segment *segment);
