/* SPDX-License-Identifier: BSD-2-Clause */
/* blocked_portable.c: the loops of blocked_run.h for every machine.  Tests compare the other
 * variants with them. */
#define RUN tamis__blocked_run_portable
#define RUN_TOGETHER tamis__blocked_together_portable
#define DEPTH 32u
#define STEP 16u /* measured against 4, 8 and 32 on a Zen 3 */
#include "kind/blocked_run.h"
