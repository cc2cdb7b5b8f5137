/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_jsonl.c: JSON lines, with and without a path. */
#include "formats.h"
#include "fuzz.h"
#include "input/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz_format(&format_jsonl, NULL, data, bytes);
    fuzz_format(&format_jsonl, "a.b", data, bytes);
    return 0;
}
