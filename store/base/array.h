/* SPDX-License-Identifier: BSD-2-Clause */
/* array.h: lists that grow by one entry after the other. */
#pragma once

#include <stddef.h>

/*
 * Room for one entry more behind the `count` that the list has; `bytes` is the size of an entry.
 * The list has room for *room entries, at first NULL and 0, and doubles where that is used up.
 *
 * Returns the list, which may have moved.  NULL: there is no memory; the old list stays as it was,
 * and the sentence is "out of memory `what`".
 */
void *tamis__array_more(void *list, size_t count, size_t *room, size_t bytes, const char *what);
