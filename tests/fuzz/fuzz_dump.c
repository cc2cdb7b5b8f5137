/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_dump.c: values in a dump that a server loads when it begins, beside a store that has a
 * filter already.  References find it. */
#include "loaders.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    loaders_payload(data, bytes, true);
    return 0;
}
