/* SPDX-License-Identifier: BSD-2-Clause */
/* points.h: the instants inside an open filter at which a test may step in (base/point.h). */
#pragma once

#include "base/point.h"

/* X(name, where) */
#define TAMIS__HANDLE_POINTS(X)                                                                    \
    X(TAMIS__POINT_LIST_FOLLOWED, "follow: all words of the next list are read but `next`")        \
    X(TAMIS__POINT_GROW_STAGED, "growth: the next segment is whole, the catalog not locked")       \
    X(TAMIS__POINT_ADD_WON, "add: the last word was flipped, the segment not looked at again")     \
    X(TAMIS__POINT_DURABLE_ASKED, "durable add: keys were asked for, other flights not")           \
    X(TAMIS__POINT_DURABLE_BEGUN, "durable add: said to be in flight, no bit is set")              \
    X(TAMIS__POINT_DURABLE_SET, "durable add: the bits are set, no frame is written")              \
    X(TAMIS__POINT_DURABLE_WRITTEN, "durable add: the frame is written, and not synced")           \
    X(TAMIS__POINT_DURABLE_SYNCED, "durable add: the log is synced, the flight not over")          \
    X(TAMIS__POINT_LOG_AWAITED, "durable add: the frame is written, another thread syncs the log") \
    X(TAMIS__POINT_LOG_RETIRED, "log: a checkpoint has made its frames needless, it is there")

TAMIS__NUMBER_POINTS(HANDLE, 6);
