/* SPDX-License-Identifier: BSD-2-Clause */
/* blocked_portable.c: the loops of blocked_run.h for every machine.  Tests compare the other
 * variants with them. */
#define RUN tamis__blocked_run_portable
#include "kind/blocked_run.h"
