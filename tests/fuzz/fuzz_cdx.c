/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_cdx.c: indexes of web archives. */
#include "formats.h"
#include "fuzz.h"
#include "input/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz_format(&format_cdx, NULL, data, bytes);
    return 0;
}
