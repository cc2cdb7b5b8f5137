/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_hosts.c: hosts files, from anywhere. */
#include "formats.h"
#include "fuzz.h"
#include "input/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz_format(&format_hosts, NULL, data, bytes);
    return 0;
}
