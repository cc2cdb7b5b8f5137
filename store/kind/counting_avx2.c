/* SPDX-License-Identifier: BSD-2-Clause */
/* counting_avx2.c: the loops of counting_run.h with vectors of 4. */
#include "kind/lanes_avx2.h"

#define RUN tamis__counting_run_avx2
#define DEPTH 32u
#define STEP 16u

#include "kind/counting_run.h"
