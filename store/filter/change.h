/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * change.h: one change of a filter's list or of its exceptions, step by step.
 *
 *     struct tamis__change change = {.store = store};
 *     tamis__change_load       reads the record, under the shared lock; then, without the lock, its
 *                              exceptions
 *     (the caller says what is to be: after, set, list)
 *     tamis__change_stage      makes the index of exceptions, without a lock
 *     tamis__change_lock       takes the exclusive lock; TAMIS__AGAIN if another change came
 *                              first
 *     tamis__change_commit     changes files, epochs, catalog and live words, in the order of
 *                              docs/generations.md
 *     tamis__change_end        in any case
 */
#pragma once

#include "filter/publish.h"
#include "txn/commit.h"

#define TAMIS__AGAIN 1

struct tamis__change {
    struct tamis_store *store;
    struct tamis__catalog_txn *txn;
    struct tamis__record before, after;
    bool is_new; /* there is no filter of that name */
    bool edits;  /* only the exceptions change: the list may have grown meanwhile */
    struct tamis__exceptions set; /* sorted: the exceptions as they are, then as they are to be */
    bool found_before; /* the build of `before` has found some of them: they are kept with it */
    bool has_index, committed;
    uint64_t comes_back_with; /* number of the index that was kept with the list that is in force
                                 again; or 0 */
    struct tamis__draft index;
    struct tamis__draft *list; /* to publish, oldest first; NULL: the list is there already */
    uint32_t list_count;
    struct tamis__numbers remove; /* files to be removed after the lock */
};

/* Returns 0 and sets is_new if there is no such filter. */
int tamis__change_load(struct tamis__change *change, const char *name);
/* `needed`: makes an index even if there are no exceptions. */
int tamis__change_stage(struct tamis__change *change, bool needed);
int tamis__change_lock(struct tamis__change *change);
int tamis__change_commit(struct tamis__change *change);
void tamis__change_end(struct tamis__change *change);

/*
 * How a fresh change has ended: call it with the result of each, and make another while it returns
 * TAMIS__AGAIN, as changes of others came first.  *tries is 0 at first.  After many tries it fails.
 */
int tamis__change_tried(const char *name, int rc, unsigned *tries);

/* Brings the items of the list in force up to date, for those who read them when it is no longer in
 * force.  Returns their sum. */
uint64_t tamis__change_count(struct tamis_store *store, struct tamis__record *record);

/* ---- rollback.c ---------------------------------------------------------------------------- */
