/* SPDX-License-Identifier: BSD-2-Clause */
/* points.h: the instants inside a log at which a test may step in (base/point.h). */
#pragma once

#include "base/point.h"

/* X(name, where) */
#define TAMIS__LOG_POINTS(X)                                                                       \
    X(TAMIS__POINT_LOG_MADE, "log: the file is whole, and has not its name")                       \
    X(TAMIS__POINT_LOG_NAMED, "log: it has its name, and no frame")

TAMIS__NUMBER_POINTS(LOG, 4);
