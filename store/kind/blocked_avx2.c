/* SPDX-License-Identifier: BSD-2-Clause */
/* blocked_avx2.c: the loops of blocked_run.h with vectors of 4. */
#include "kind/lanes_avx2.h"

#define VARIANT_RUN tamis__blocked_run_avx2
#define VARIANT_TOGETHER tamis__blocked_together_avx2
#define KEYS_AHEAD 32u
#define KEYS_A_STEP 16u /* measured against 4, 8 and 32 on a Zen 3 */

#include "kind/blocked_run.h"
