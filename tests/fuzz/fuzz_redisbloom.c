/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_redisbloom.c: answers of BF.SCANDUMP in their container. */
#include "fuzz_streams.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz_stream(&tamis__format_redisbloom, data, bytes, false); /* chunks may be cut elsewhere */
    return 0;
}
