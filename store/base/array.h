/* SPDX-License-Identifier: BSD-2-Clause */
/* array.h: lists that grow by one entry after the other. */
#pragma once

#include <stddef.h>

/*
 * Makes room for one entry more behind the *count that a list has, counts it, and returns it, not
 * yet filled.  `list` is the address of the pointer to the list; `bytes` is the size of an entry.
 * The list has room for *room entries, at first NULL and 0.  It doubles where that is used up, and
 * may move then.
 *
 * Returns NULL without memory: the list stays as it was, and the sentence is "out of memory
 * `what`".
 */
void *tamis__array_add(void *list, size_t *count, size_t *room, size_t bytes, const char *what);
