/* SPDX-License-Identifier: BSD-2-Clause */
/* array.c: see array.h. */
#include "base/base.h"

#define ROOM_AT_FIRST 16u

void *tamis__array_more(void *list, size_t count, size_t *room, size_t bytes, const char *what)
{
    if (count < *room) return list;
    const size_t more = *room > 0 ? 2 * *room : ROOM_AT_FIRST;
    void *bigger = reallocarray(list, more, bytes);
    if (bigger == NULL)
        (void)tamis__fail(TAMIS_ENOMEM, "out of memory %s", what);
    else
        *room = more;
    return bigger;
}
