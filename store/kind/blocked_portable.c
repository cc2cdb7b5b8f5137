/* SPDX-License-Identifier: BSD-2-Clause */
/* blocked_portable.c: the loops of blocked_run.h for every machine.  Tests compare the other
 * variants with them. */
#define VARIANT_RUN tamis__blocked_run_portable
#define VARIANT_TOGETHER tamis__blocked_together_portable
#define KEYS_AHEAD 32u
#define KEYS_A_STEP 16u /* measured against 4, 8 and 32 on a Zen 3 */
#include "kind/blocked_run.h"
