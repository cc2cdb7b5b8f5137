/* SPDX-License-Identifier: BSD-2-Clause */
/* packed.c: what packed bytes begin with; see packed.h. */
#include "input/packed.h"

#include <string.h>

/* Formats that are not unpacked here are in the table so that they are refused: if they were read
 * as plain text, their bytes would be published as keys that nobody asks for. */
static const struct packed_format FORMATS[] = {
    {"gzip", "\x1f\x8b\x08", 3, 0, &unpacker_gzip, "zlib1g-dev", "ZLIB", "gzip -dc"},
    {"zstd", "\x28\xb5\x2f\xfd", 4, 0, &unpacker_zstd, "libzstd-dev", "ZSTD", "zstd -dc"},
    {"zstd", "\x50\x2a\x4d\x18", 4, 0, &unpacker_zstd, "libzstd-dev", "ZSTD",
     "zstd -dc"}, /* pzstd begins so */
    {"xz", "\xfd\x37zXZ\0", 6, 0, NULL, NULL, NULL, "xz -dc"},
    {"lz4", "\x04\x22\x4d\x18", 4, 0, NULL, NULL, NULL, "lz4 -dc"},
    {"zip", "PK\x03\x04", 4, 0, NULL, NULL, NULL, "unzip -p"},
    {"bzip2", "BZh?1AY&SY", 10, 3, NULL, NULL, NULL, "bzip2 -dc"}, /* a digit */
};
#define FORMAT_COUNT (sizeof FORMATS / sizeof *FORMATS)

/* Do the bytes agree with the magic bytes as far as both go? */
static bool agrees(const struct packed_format *format, const unsigned char *first, size_t bytes)
{
    const size_t compared = bytes < format->magic_bytes ? bytes : format->magic_bytes;
    const unsigned char *magic = (const unsigned char *)format->magic;
    for (size_t i = 0; i < compared; i++)
        if (first[i] != magic[i] && (format->any_at == 0 || i != format->any_at)) return false;
    return true;
}

const struct packed_format *packed_format_of(const unsigned char *first, size_t bytes, bool *more)
{
    *more = false;
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        if (!agrees(&FORMATS[i], first, bytes)) continue;
        if (bytes >= FORMATS[i].magic_bytes) return &FORMATS[i];
        *more = true;
    }
    return NULL;
}

const struct packed_format *packed_format_cut_short(const unsigned char *first, size_t bytes)
{
    for (size_t i = 0; bytes >= 2 && i < FORMAT_COUNT; i++)
        if (bytes < FORMATS[i].magic_bytes && (first[0] >= 0x80 || first[1] >= 0x80) &&
            agrees(&FORMATS[i], first, bytes))
            return &FORMATS[i];
    return NULL;
}
