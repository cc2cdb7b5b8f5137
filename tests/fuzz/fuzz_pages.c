/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_pages.c: a whole catalog.mdb, read in memory. */
#include "fuzz.h"

#include <string.h>

#include "catalog/pages.h"
#include "tamis.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct tamis__page_fault fault = {UINT64_MAX, NULL};
    uint8_t *file = malloc(bytes + !bytes); /* 8-byte aligned, as a mapping is, and no byte more */
    if (file == NULL) return 0;
    memcpy(file, data, bytes);
    const int rc = tamis__pages_check(file, bytes, &fault);
    FUZZ_CHECK(rc == 0 || rc == TAMIS_ECORRUPT || rc == TAMIS_EFOREIGN || rc == TAMIS_ENOMEM);
    if (rc == TAMIS_ECORRUPT || rc == TAMIS_EFOREIGN)
        FUZZ_CHECK(fault.offset != UINT64_MAX && fault.reason != NULL && *fault.reason != '\0');
    FUZZ_CHECK(memcmp(file, data, bytes) == 0);
    free(file);
    return 0;
}
