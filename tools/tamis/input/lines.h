/* SPDX-License-Identifier: BSD-2-Clause */
/* lines.h: the whole lines of a buffer, as keys that point into it. */
#pragma once

#include <stddef.h>

#include "tamis.h"

struct lines {
    const char *start;   /* of the first line that was not taken yet */
    const char *scanned; /* from start up to here there is no separator */
    const char *end;     /* of what there is of the text */
    char separator;
};

/* Takes lines that end before `end`.  Returns their number, at most `most`, which is at least
 * SCAN_BYTES.
 * The separator stands behind each key and does not belong to it. 0: there is no whole line, and
 * scanned is then end. */
size_t lines_take(struct lines *lines, struct tamis_key *keys, size_t most);

/* The same by memchr(), with a call for each line; lines_take() is tested against it. */
size_t lines_take_portable(struct lines *lines, struct tamis_key *keys, size_t most);
