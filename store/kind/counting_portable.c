/* SPDX-License-Identifier: BSD-2-Clause */
/* counting_portable.c: the loops of counting_run.h for every machine.  Tests compare the other
 * variants with them. */
#define RUN tamis__counting_run_portable
#define DEPTH 32u
#define STEP 16u

#include "kind/counting_run.h"
