/* SPDX-License-Identifier: BSD-2-Clause */
/* points.h: the instants inside a change of a store at which a test may step in (base/point.h). */
#pragma once

#include "base/point.h"

/* X(name, where) */
#define TAMIS__TXN_POINTS(X)                                                                       \
    X(TAMIS__POINT_PUBLISH_EPOCH,                                                                  \
      "publish: files named, epochs raised, the catalog not committed")                            \
    X(TAMIS__POINT_PUBLISH_WORD, "publish: committed, one more live word is told")                 \
    X(TAMIS__POINT_PUBLISH_TOLD, "publish: committed and told, nothing unlinked yet")              \
    X(TAMIS__POINT_STORE_MADE, "store: directories there, no catalog yet")                         \
    X(TAMIS__POINT_GROW_AHEAD, "growth: the next segment is committed as a spare, nobody knows")   \
    X(TAMIS__POINT_GROW_LEFT, "growth: committed, and the segment before says so")                 \
    X(TAMIS__POINT_LOG_REPLAYED, "recovery: a log is replayed, and nothing synced")                \
    X(TAMIS__POINT_LOG_SYNCED, "recovery: what was replayed is synced, the log is there")          \
    X(TAMIS__POINT_RECOVERED, "recovery: a segment is unclean, the catalog does not know")

TAMIS__NUMBER_POINTS(TXN, 5);
