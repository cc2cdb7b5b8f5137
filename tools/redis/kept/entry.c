/* SPDX-License-Identifier: BSD-2-Clause */
/* entry.c: see entry.h. */
#include "kept/entry.h"

/* Merges two lists that are sorted by when the filters were created. */
static struct kept *merge(struct kept *a, struct kept *b)
{
    struct kept *merged = NULL, **end = &merged;
    while (a != NULL && b != NULL) {
        struct kept **less = b->created_at < a->created_at ? &b : &a;
        *end = *less;
        end = &(*less)->next;
        *less = *end;
    }
    *end = a != NULL ? a : b;
    return merged;
}

struct kept *entries_sort(struct kept *list)
{
    enum { LEVELS = 48 };
    struct kept *sorted[LEVELS] = {NULL}; /* the one at level i has 2^i of them, or there is none */
    while (list != NULL) {
        struct kept *some = list;
        list = list->next;
        some->next = NULL;
        int level = 0;
        for (; level < LEVELS - 1 && sorted[level] != NULL; level++) {
            some = merge(sorted[level], some);
            sorted[level] = NULL;
        }
        sorted[level] = merge(sorted[level], some);
    }
    for (int level = 0; level < LEVELS; level++)
        list = merge(sorted[level], list);
    return list;
}
