/* SPDX-License-Identifier: BSD-2-Clause */
/* points.h: the instants inside an add, a remove and a merge of a kind at which a test may step in
 * (base/point.h). */
#pragma once

#include "base/point.h"

/* X(name, where) */
#define TAMIS__KIND_POINTS(X)                                                                      \
    X(TAMIS__POINT_ADD_LOADED, "add: one word was read")                                           \
    X(TAMIS__POINT_ADD_ORED, "add: one word was ORed, the answer is not known to the caller")      \
    X(TAMIS__POINT_COUNT, "add: the bits are set, the item count is not")                          \
    X(TAMIS__POINT_CELL_RAISED, "counting: one counter of an add is raised")                       \
    X(TAMIS__POINT_SLOT_SEEN, "counting: a free slot of overflow is seen, not taken")              \
    X(TAMIS__POINT_SLOT_TAKEN, "counting: a counter has a slot of overflow and no mark of it")     \
    X(TAMIS__POINT_LEVEL_GROWN, "counting: the file is longer, the level not in force")            \
    X(TAMIS__POINT_BLOCK_LOCKED, "remove: the block is locked, no counter looked at")              \
    X(TAMIS__POINT_REMOVE_CHECKED, "remove: all counters are above 0, none is lowered")            \
    X(TAMIS__POINT_CELL_LOWERED, "remove: one counter is lowered")                                 \
    X(TAMIS__POINT_MERGE_LOADED, "merge: a word lacks bits, and was not ORed yet")

TAMIS__NUMBER_POINTS(KIND, 3);
