/* SPDX-License-Identifier: BSD-2-Clause */
/* entry.h: the entries of the lists of kept.c. */
#pragma once

#include "value/value.h"

/* A value whose key is gone.  It is in one of the lists. */
struct kept {
    struct kept *next, *before; /* in `going`, and while it is taken in, there is only `next` */
    struct value *value;
    union {
        int64_t created_at; /* of its filter, while it is taken in */
        int64_t again_at;   /* in `failed`: when it is tried again */
    };
    uint64_t number; /* how many filters went before it */
    uint64_t child;  /* the number of the child that was alive when it went, and may save it */
    enum { CLOSE, DROP, PUT_APART } what; /* in `work`: what is to be done */
    int rc;                               /* and what came of it */
    bool in_work;
    bool is_noted;   /* moves.h: that its key is gone */
    uint8_t tries;   /* to drop it that have failed */
    bool has_no_key; /* kept_drop(): no dump needs it */
    bool is_nowhere; /* nothing is in the store: it had a draft */
};

static inline struct kept *entry_new(struct value *value)
{
    struct kept *k = RedisModule_Calloc(1, sizeof *k);
    k->value = value;
    return k;
}

/* A list is a ring that goes through its head, so an entry is taken off without a look at others.
 */
static inline bool entry_is_alone(const struct kept *list)
{
    return list->next == list;
}

static inline void entry_append(struct kept *list, struct kept *k)
{
    k->next = list;
    k->before = list->before;
    k->before->next = k;
    list->before = k;
}

static inline struct kept *entry_take(struct kept *k)
{
    k->before->next = k->next;
    k->next->before = k->before;
    return k;
}

/*
 * Sorts a list, which is none of these but one whose last `next` is NULL, by when the filters were
 * created.  FLUSHALL releases them in the order of the server's hash table.  But filters that were
 * created one after the other lie beside each other in drawers and in the catalog, so to drop these
 * together touches a tenth of the pages.
 */
struct kept *entries_sort(struct kept *list);
