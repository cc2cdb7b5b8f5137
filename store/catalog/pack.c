/* SPDX-License-Identifier: BSD-2-Clause */
/* pack.c: see pack.h. */
#include "catalog/pack.h"

#include <assert.h>

#include "base/bytes.h"

size_t tamis__pack(const void *record, size_t bytes, void *packed)
{
    const unsigned char *from = record;
    unsigned char *to = (unsigned char *)packed + 8;
    uint64_t present = 0;
    assert(bytes % 8 == 0 && bytes <= (size_t)64 * 8);
    for (size_t i = 0; i < bytes / 8; i++) {
        if (tamis__get64(from + i * 8) == 0) continue;
        present |= (uint64_t)1 << i;
        memcpy(to, from + i * 8, 8);
        to += 8;
    }
    memcpy(packed, &present, sizeof present);
    return (size_t)(to - (unsigned char *)packed);
}

size_t tamis__unpack(const void *packed, size_t bytes, void *record, size_t most)
{
    const unsigned char *from = (const unsigned char *)packed + 8;
    unsigned char *to = record;
    if (bytes < 16 || bytes % 8 != 0) return 0;
    const uint64_t present = tamis__get64(packed);
    if (present == 0 || (size_t)__builtin_popcountll(present) * 8 != bytes - 8) return 0;
    const size_t words = 64 - (size_t)__builtin_clzll(present);
    if (words * 8 > most) return 0;
    memset(to, 0, most);
    for (size_t i = 0; i < words; i++) {
        if ((present >> i & 1) == 0) continue;
        if (tamis__get64(from) == 0) return 0; /* there is one form only */
        memcpy(to + i * 8, from, 8);
        from += 8;
    }
    return words * 8;
}
