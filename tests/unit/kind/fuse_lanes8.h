/* SPDX-License-Identifier: BSD-2-Clause */
/* fuse_lanes8.h: see fuse_lanes8.c. */
#ifndef TAMIS_UNIT_FUSE_LANES8_H
#define TAMIS_UNIT_FUSE_LANES8_H

#include "kind/fuse.h"
#include "tamis.h"

tamis__fuse_run_fn fuse_run_lanes8;

#endif
