/* SPDX-License-Identifier: BSD-2-Clause */
/* points.h: the instants inside a build at which a test may step in (base/point.h). */
#pragma once

#include "base/point.h"

/* X(name, where) */
#define TAMIS__BUILD_POINTS(X)                                                                     \
    X(TAMIS__POINT_BUILD_SORTED, "build: the keys are sorted, nothing is made")                    \
    X(TAMIS__POINT_BUILD_MADE, "build: the segment is whole, and was not asked yet")               \
    X(TAMIS__POINT_BUILD_VERIFIED, "build: verified, the catalog not locked")

TAMIS__NUMBER_POINTS(BUILD, 9);
