/* SPDX-License-Identifier: BSD-2-Clause */
/* blocked_avx512.c: the loops of blocked_run.h with vectors of 8. */
#include "kind/lanes_avx512.h"

#define VARIANT_RUN tamis__blocked_run_avx512
#define VARIANT_TOGETHER tamis__blocked_together_avx512
/* A Zen 5 asks out of cache in 6.7 ns so, where 32 and 16 take 8.5. */
#define KEYS_AHEAD 64u
#define KEYS_A_STEP 32u

#include "kind/blocked_run.h"
