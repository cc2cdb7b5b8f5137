/* SPDX-License-Identifier: BSD-2-Clause */
/* points.h: the instants inside a guarded mapping at which a test may step in (base/point.h). */
#pragma once

#include "base/point.h"

/* X(name, where) */
#define TAMIS__OS_POINTS(X) X(TAMIS__POINT_PAGE_REPLACED, "guard: a page that faulted is replaced")

TAMIS__NUMBER_POINTS(OS, 0);
