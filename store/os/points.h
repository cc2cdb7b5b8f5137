/* SPDX-License-Identifier: BSD-2-Clause */
/* points.h: the instants inside a guarded mapping at which a test may step in (base/point.h). */
#pragma once

#include "base/point.h"

/* X(name, where) */
#define TAMIS__OS_POINTS(X) X(TAMIS__POINT_PAGE_REPLACED, "guard: a page that faulted is replaced")

enum tamis__os_point {
    TAMIS__POINTS_BEFORE_OS = 0 * TAMIS__POINTS_A_ROOM - 1,
    TAMIS__OS_POINTS(TAMIS__POINT_NUMBER)
};
