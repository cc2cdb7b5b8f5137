/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_csv.c: tables, with and without names of their fields. */
#include "formats.h"
#include "fuzz.h"
#include "input/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz_format(&format_csv, NULL, data, bytes);
    fuzz_format(&format_csv, "url", data, bytes);
    fuzz_format(&format_tsv, "url", data, bytes);
    return 0;
}
