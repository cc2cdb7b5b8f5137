/* SPDX-License-Identifier: BSD-2-Clause */
/* fuse_lanes8.c: the loop of AVX-512 with its own instructions in C. */
#include "lanes8.h"

#define VARIANT_RUN fuse_run_lanes8
#define KEYS_AHEAD 64u
#define KEYS_A_STEP 32u

#include "fuse_lanes8.h"

#include "kind/fuse_run.h"
