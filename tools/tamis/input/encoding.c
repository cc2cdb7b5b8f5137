/* SPDX-License-Identifier: BSD-2-Clause */
/* encoding.c: what the first bytes of a text say of the rest; see encoding.h. */
#include "input/encoding.h"

#include <stdbool.h>
#include <string.h>

#define PAIRS_LEAST 3 /* letters beside NUL bytes, where there is no byte order mark */
#define PAIRS_MOST 32
#define LOOKED_BYTES ((size_t)4096)

static bool begins(const char *text, size_t bytes, const char *with, size_t with_bytes)
{
    return bytes >= with_bytes && memcmp(text, with, with_bytes) == 0;
}

/* Is each byte at an even place NUL, and no other one? With `odd` set: at an odd place. */
static bool has_nuls(const char *text, size_t bytes, size_t odd)
{
    const size_t pairs = bytes / 2 < PAIRS_MOST ? bytes / 2 : PAIRS_MOST;
    for (size_t i = 0; i < 2 * pairs; i++)
        if ((text[i] == '\0') != (i % 2 == odd)) return false;
    return pairs >= PAIRS_LEAST;
}

enum encoding encoding_of(const char *text, size_t bytes)
{
    if (begins(text, bytes, "\xef\xbb\xbf", ENCODING_MARK_BYTES)) return ENCODING_MARK;
    if (begins(text, bytes, "\xff\xfe\0\0", 4) || begins(text, bytes, "\0\0\xfe\xff", 4))
        return ENCODING_UTF32;
    /* The mark, and a NUL byte behind it, as ends of lines have: other bytes may begin so, too. */
    if ((begins(text, bytes, "\xff\xfe", 2) || begins(text, bytes, "\xfe\xff", 2)) &&
        memchr(text, '\0', bytes < LOOKED_BYTES ? bytes : LOOKED_BYTES) != NULL)
        return ENCODING_UTF16;
    return has_nuls(text, bytes, 1) || has_nuls(text, bytes, 0) ? ENCODING_UTF16 : ENCODING_BYTES;
}
