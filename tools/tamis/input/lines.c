/* SPDX-License-Identifier: BSD-2-Clause */
/* lines.c: the whole lines of a buffer; see lines.h. */
#include "input/lines.h"

#include <stdint.h>
#include <string.h>

#include "input/scan.h"

size_t lines_take_portable(struct lines *lines, struct tamis_key *keys, size_t most)
{
    size_t count = 0;
    while (count < most) {
        const char *stop =
            memchr(lines->scanned, lines->separator, (size_t)(lines->end - lines->scanned));
        if (stop == NULL) {
            lines->scanned = lines->end;
            break;
        }
        keys[count++] =
            (struct tamis_key){.data = lines->start, .bytes = (size_t)(stop - lines->start)};
        lines->start = lines->scanned = stop + 1;
    }
    return count;
}

size_t lines_take(struct lines *lines, struct tamis_key *keys, size_t most)
{
    const char *line = lines->start, *at = lines->scanned;
    size_t count = 0;
    /* One look finds up to SCAN_BYTES lines, so it needs room for as many. */
    for (; most - count >= SCAN_BYTES; at += SCAN_BYTES) {
        if ((size_t)(lines->end - at) < SCAN_BYTES) {
            lines->start = line;
            lines->scanned = at;
            return count + lines_take_portable(lines, keys + count, most - count);
        }
        uint64_t stops = scan(at, (uint8_t)lines->separator);
        for (; stops != 0; stops &= stops - 1) {
            const char *stop = at + __builtin_ctzll(stops);
            keys[count++] = (struct tamis_key){.data = line, .bytes = (size_t)(stop - line)};
            line = stop + 1;
        }
    }
    lines->start = line;
    lines->scanned = at;
    return count;
}
