/* SPDX-License-Identifier: BSD-2-Clause */
/* points.h: the instants of all rooms of store/ in one list, for tests that go through all of them
 * or print their names. */
#pragma once

#include <stdbool.h>

#include "build/points.h"
#include "catalog/points.h"
#include "check/points.h"
#include "filter/points.h"
#include "handle/points.h"
#include "kind/points.h"
#include "log/points.h"
#include "os/points.h"
#include "segment/points.h"
#include "txn/points.h"

/* X(name, where) */
#define TAMIS__POINT_MAP(X)                                                                        \
    TAMIS__OS_POINTS(X)                                                                            \
    TAMIS__SEGMENT_POINTS(X)                                                                       \
    TAMIS__CATALOG_POINTS(X)                                                                       \
    TAMIS__KIND_POINTS(X)                                                                          \
    TAMIS__LOG_POINTS(X)                                                                           \
    TAMIS__TXN_POINTS(X)                                                                           \
    TAMIS__HANDLE_POINTS(X)                                                                        \
    TAMIS__FILTER_POINTS(X)                                                                        \
    TAMIS__CHECK_POINTS(X)                                                                         \
    TAMIS__BUILD_POINTS(X)

/* One more than the greatest number of an instant; some numbers below it are free. */
#define TAMIS__POINT_COUNT_OF (10 * TAMIS__POINTS_A_ROOM)

/* Is it passed for each key, and not for each change of a store? */
static inline bool point_is_of_a_key(unsigned point)
{
    return point / TAMIS__POINTS_A_ROOM == TAMIS__POINT_ADD_LOADED / TAMIS__POINTS_A_ROOM ||
           point == TAMIS__POINT_SLOT_HALF || point == TAMIS__POINT_HOLDER_DEAD ||
           point == TAMIS__POINT_PAGE_REPLACED || point == TAMIS__POINT_ADD_WON;
}

/* Is it passed when an adder takes room in a segment? */
static inline bool point_is_of_room(unsigned point)
{
    return point == TAMIS__POINT_ROOM_SEEN || point == TAMIS__POINT_ROOM_TAKEN ||
           point == TAMIS__POINT_ROOM_GRANTED;
}
