/* SPDX-License-Identifier: BSD-2-Clause */
/* points.h: the instants inside a segment's room and marks at which a test may step in
 * (base/point.h). */
#pragma once

#include "base/point.h"

/* X(name, where) */
#define TAMIS__SEGMENT_POINTS(X)                                                                   \
    X(TAMIS__POINT_HOLDER_DEAD, "remove: a lock's holder was found dead, the lock is not taken")   \
    X(TAMIS__POINT_STAGED, "create: the staged file is whole, the catalog not locked")             \
    X(TAMIS__POINT_RENAMED, "create: the segment has its name, the catalog is not committed")      \
    X(TAMIS__POINT_ROOM_SEEN, "room: seen on a stripe, nothing is taken")                          \
    X(TAMIS__POINT_ROOM_TAKEN, "room: taken from a stripe, not looked at again")                   \
    X(TAMIS__POINT_ROOM_GRANTED, "room: a lump is granted, and no stripe has it yet")              \
    X(TAMIS__POINT_MARK_LOCKED, "mark: the writer has its lock, and is not counted")               \
    X(TAMIS__POINT_MARK_COUNTED, "mark: the writer is counted, the segment perhaps clean")         \
    X(TAMIS__POINT_MARK_DIRTY, "mark: the segment is dirty, and the disk does not know")           \
    X(TAMIS__POINT_MARK_DONE, "mark: the disk knows, and no bit was written yet")                  \
    X(TAMIS__POINT_SYNC_ASKED, "checkpoint: nobody writes, nothing is synced")                     \
    X(TAMIS__POINT_SUMS_LOCKED,                                                                    \
      "checkpoint: nobody writes, the table of checksums is not written")                          \
    X(TAMIS__POINT_SUMS_MADE,                                                                      \
      "checkpoint: the table of checksums is written, and not on the disk")                        \
    X(TAMIS__POINT_SYNC_DONE, "checkpoint: the segment is synced, its mark as it was")             \
    X(TAMIS__POINT_SYNC_CLEARED, "checkpoint: the mark is cleared, and the disk does not know")

TAMIS__NUMBER_POINTS(SEGMENT, 1);
