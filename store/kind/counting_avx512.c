/* SPDX-License-Identifier: BSD-2-Clause */
/* counting_avx512.c: the loops of counting_run.h with vectors of 8. */
#include "kind/lanes_avx512.h"

#define VARIANT_RUN tamis__counting_run_avx512
#define KEYS_AHEAD 96u
#define KEYS_A_STEP 32u

#include "kind/counting_run.h"
