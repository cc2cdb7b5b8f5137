/* SPDX-License-Identifier: BSD-2-Clause */
/* counting_lanes8.c: the loops of AVX-512 with its own instructions in C. */
#include "lanes8.h"

#define VARIANT_RUN counting_run_lanes8
#define KEYS_AHEAD 64u
#define KEYS_A_STEP 32u

#include "counting_lanes8.h"

#include "kind/counting_run.h"
