/* SPDX-License-Identifier: BSD-2-Clause */
/* counting_portable.c: the loops of counting_run.h for every machine.  Tests compare the other
 * variants with them. */
#define VARIANT_RUN tamis__counting_run_portable
#define KEYS_AHEAD 32u
#define KEYS_A_STEP 16u

#include "kind/counting_run.h"
