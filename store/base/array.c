/* SPDX-License-Identifier: BSD-2-Clause */
/* array.c: see array.h. */
#include "base/base.h"

#define ROOM_AT_FIRST 16u

void *tamis__array_add(void *list, size_t *count, size_t *room, size_t bytes, const char *what)
{
    char *entries;
    memcpy(&entries, list, sizeof entries);
    if (*count == *room) {
        const size_t more = *room > 0 ? 2 * *room : ROOM_AT_FIRST;
        char *moved = reallocarray(entries, more, bytes);
        if (moved == NULL) {
            (void)tamis__fail(TAMIS_ENOMEM, "out of memory %s", what);
            return NULL;
        }
        entries = moved;
        memcpy(list, &entries, sizeof entries);
        *room = more;
    }
    return entries + (*count)++ * bytes;
}
