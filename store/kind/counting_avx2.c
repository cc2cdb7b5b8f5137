/* SPDX-License-Identifier: BSD-2-Clause */
/* counting_avx2.c: the loops of counting_run.h with vectors of 4. */
#include "kind/lanes_avx2.h"

#define VARIANT_RUN tamis__counting_run_avx2
#define KEYS_AHEAD 32u
#define KEYS_A_STEP 16u

#include "kind/counting_run.h"
