/* SPDX-License-Identifier: BSD-2-Clause */
/* cli_clock.c: linked into the command, it takes the clock of windows from the environment. */
#include <stdlib.h>

#include "base/point.h"

static int64_t told(void)
{
    return strtoll(getenv("TAMIS_MODEL_CLOCK"), NULL, 10);
}

__attribute__((constructor)) static void take_clock(void)
{
    if (getenv("TAMIS_MODEL_CLOCK") != NULL) tamis__clock_hook = told;
}
