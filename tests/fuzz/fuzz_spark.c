/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_spark.c: what BloomFilter.writeTo() of Apache Spark writes. */
#include "fuzz_streams.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz_stream(&tamis__format_spark, data, bytes, true);
    return 0;
}
