/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_parquet.c: the Bloom filter of a column chunk, as it stands in a Parquet file. */
#include "fuzz_streams.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz_stream(&tamis__format_parquet, data, bytes, true);
    return 0;
}
