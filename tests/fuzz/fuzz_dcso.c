/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_dcso.c: the files of DCSO's Bloom filters. */
#include "fuzz_streams.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz_stream(&tamis__format_dcso, data, bytes, true);
    return 0;
}
