/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_guava.c: what BloomFilter.writeTo() of Guava writes. */
#include "fuzz_streams.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz_stream(&tamis__format_guava, data, bytes, true);
    return 0;
}
