/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_pybloomfilter.c: the files of pybloomfiltermmap3 and pybloomfiltermmap. */
#include "fuzz_streams.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz_stream(&tamis__format_pybloomfilter, data, bytes, true);
    return 0;
}
