/* SPDX-License-Identifier: BSD-2-Clause */
/* enter.h: a filter that was not there before, of segments that are made (enter.c). */
#ifndef TAMIS_TXN_ENTER_H
#define TAMIS_TXN_ENTER_H

#include "txn/commit.h"

/* The list of segments, oldest first, that shall be the filter `name`. */
struct tamis__entry {
    const char *name;
    struct tamis__draft *drafts;
    uint32_t count;
    uint64_t capacity;
    double fp_rate;
    struct tamis__policy policy;
    tamis__opened_fn *opened; /* NULL: nobody wants a handle */
    void *context;
    bool filled; /* with contents: an orphan of these cannot be told from a filter's by looking */
};

/* TAMIS_EEXIST now rather than after allocating gigabytes. */
int tamis__check_absent(struct tamis_store *store, const char *name);

/* Publish all of them in one commit.  On any error nothing of them is left. */
int tamis__drafts_enter(struct tamis_store *store, const struct tamis__entry *entry);

#endif
