/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_notes.c: what a pull noted, from a file that anybody may have written, as it is and filled
 * up to its length.  What is accepted comes out again byte for byte.
 */
#include "fuzz.h"

#include <string.h>

#include "pull/notes.h"

static void check_notes(const char *block, size_t bytes)
{
    struct notes notes, again;
    char printed[NOTES_BYTES];
    if (!notes_parse(block, bytes, &notes)) {
        FUZZ_CHECK(notes.name[0] == '\0' && notes.etag[0] == '\0' && notes.bytes == 0);
        return;
    }
    FUZZ_CHECK(bytes == NOTES_BYTES && notes_print(&notes, printed));
    FUZZ_CHECK(memcmp(printed, block, bytes) == 0);
    FUZZ_CHECK(notes_parse(printed, sizeof printed, &again));
    FUZZ_CHECK(strcmp(notes.etag, again.etag) == 0 && notes.bytes == again.bytes);
    FUZZ_CHECK(!notes_etag_is_strong(notes.etag) || notes.etag[0] == '"');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char block[NOTES_BYTES];
    check_notes((const char *)data, bytes);
    if (bytes >= sizeof block) return 0;
    memcpy(block, data, bytes);
    memset(block + bytes, '\n', sizeof block - bytes);
    check_notes(block, sizeof block);
    return 0;
}
