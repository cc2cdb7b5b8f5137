/* SPDX-License-Identifier: BSD-2-Clause */
/* pack.c: see pack.h. */
#include "catalog/pack.h"

#include <assert.h>

#include "base/bytes.h"

size_t tamis__pack(const uint64_t *record, size_t words, tamis__foretell_fn *foretell, void *packed)
{
    unsigned char *to = (unsigned char *)packed + 8;
    uint64_t present = 0;
    assert(words <= TAMIS__PACK_WORDS_MAX);
    for (size_t i = 0; i < words; i++) {
        if (record[i] == foretell(record, i)) continue;
        present |= (uint64_t)1 << i;
        memcpy(to, &record[i], 8);
        to += 8;
    }
    memcpy(packed, &present, sizeof present);
    return (size_t)(to - (unsigned char *)packed);
}

bool tamis__unpack(const void *packed, size_t bytes, tamis__foretell_fn *foretell, uint64_t *record,
                   size_t words)
{
    const unsigned char *from = (const unsigned char *)packed + 8;
    assert(words < TAMIS__PACK_WORDS_MAX);
    if (bytes < 8 || bytes % 8 != 0) return false;
    const uint64_t present = tamis__get64(packed);
    if (present >> words != 0 || (size_t)__builtin_popcountll(present) * 8 != bytes - 8)
        return false;
    for (size_t i = 0; i < words; i++) {
        record[i] = foretell(record, i);
        if ((present >> i & 1) == 0) continue;
        if (tamis__get64(from) == record[i]) return false; /* there is one form only */
        record[i] = tamis__get64(from);
        from += 8;
    }
    return true;
}
