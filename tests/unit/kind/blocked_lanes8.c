/* SPDX-License-Identifier: BSD-2-Clause */
/* blocked_lanes8.c: the loops of AVX-512 with its own instructions in C. */
#include "lanes8.h"

#define VARIANT_RUN blocked_run_lanes8
#define VARIANT_TOGETHER blocked_together_lanes8
#define KEYS_AHEAD 64u
#define KEYS_A_STEP 32u

#include "blocked_lanes8.h"

#include "kind/blocked_run.h"
