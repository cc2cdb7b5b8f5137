/* SPDX-License-Identifier: BSD-2-Clause */
/* points.h: the instants inside the catalog at which a test may step in (base/point.h). */
#pragma once

#include "base/point.h"

/* X(name, where) */
#define TAMIS__CATALOG_POINTS(X)                                                                   \
    X(TAMIS__POINT_COMMITTED, "catalog: committed, the lock still held")                           \
    X(TAMIS__POINT_CATALOG_CHECKED, "catalog: the file is checked, LMDB has not opened it")        \
    X(TAMIS__POINT_PEEK_META, "catalog: read without the lock, as far as its meta pages")          \
    X(TAMIS__POINT_CATALOG_WALK, "catalog: every page is about to be checked")                     \
    X(TAMIS__POINT_CATALOG_WRITTEN, "a new catalog is whole, and not in its place")

TAMIS__NUMBER_POINTS(CATALOG, 2);
