/* SPDX-License-Identifier: BSD-2-Clause */
/* fuse_avx512.c: the loop of fuse_run.h with vectors of 8. */
#include "kind/lanes_avx512.h"

#define VARIANT_RUN tamis__fuse_run_avx512
#define KEYS_AHEAD 64u
#define KEYS_A_STEP 32u

#include "kind/fuse_run.h"
