/* SPDX-License-Identifier: BSD-2-Clause */
/* points.h: the instants inside a repair at which a test may step in (base/point.h). */
#pragma once

#include "base/point.h"

/* X(name, where) */
#define TAMIS__CHECK_POINTS(X)                                                                     \
    X(TAMIS__POINT_SLOT_HALF, "copy: one word of an overflow slot is read, the other is not")      \
    X(TAMIS__POINT_REPAIR_SCANNED, "repair: all files were looked at, nothing is changed")         \
    X(TAMIS__POINT_REPAIR_RENAMED, "repair: the new catalog is in its place, the rest not done")   \
    X(TAMIS__POINT_REPAIR_CLEANED, "repair: files are removed, the catalog does not know yet")     \
    X(TAMIS__POINT_BACKUP_FILLED, "backup: a filter is copied, and no name is given")              \
    X(TAMIS__POINT_BACKUP_MARKED, "backup: the older copy has the mark, and its place")            \
    X(TAMIS__POINT_BACKUP_SWAPPED, "backup: the older copy is out of its place, with its mark")

TAMIS__NUMBER_POINTS(CHECK, 8);
