/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_adblock.c: filter lists of ad blockers. */
#include "formats.h"
#include "fuzz.h"
#include "input/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz_format(&format_adblock, NULL, data, bytes);
    return 0;
}
