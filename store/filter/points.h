/* SPDX-License-Identifier: BSD-2-Clause */
/* points.h: the instants inside an operation on a filter by its name at which a test may step in
 * (base/point.h). */
#pragma once

#include "base/point.h"

/* X(name, where) */
#define TAMIS__FILTER_POINTS(X)                                                                    \
    X(TAMIS__POINT_EXCEPT_LOADED, "except: the exceptions are read, the new ones not written")     \
    X(TAMIS__POINT_EXCEPT_STAGED, "except: the new index is whole, the catalog not locked")        \
    X(TAMIS__POINT_EXPORT_PINNED, "export: the list is pinned, the catalog not looked at")         \
    X(TAMIS__POINT_DROP_EPOCH, "drop: the epoch is raised, the catalog is not committed")          \
    X(TAMIS__POINT_DROP_UNLINK, "drop: committed, the files not yet unlinked")                     \
    X(TAMIS__POINT_RENAME_LABEL, "rename: committed, the segments still carry the old name")       \
    X(TAMIS__POINT_MERGE_RESERVED, "merge: there is room for the counters, none was added to")     \
    X(TAMIS__POINT_MERGE_DONE, "merge: all words were ORed, the items are not counted")

TAMIS__NUMBER_POINTS(FILTER, 7);
