/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * change.h: one change of a filter's list or of its exceptions, step by step.
 *
 *     struct tamis__change change = {.store = store};
 *     tamis__change_load       the record, as it is, under the shared lock; then, without it, its
 *                              exceptions
 *     (say what shall be)      after, set, list
 *     tamis__change_stage      the index of exceptions, without a lock
 *     tamis__change_lock       exclusive; TAMIS__AGAIN where what was loaded is no more so
 *     tamis__change_commit     files, epochs, catalog, live words, in the order of
 *                              docs/generations.md
 *     tamis__change_end        in any case
 */
#ifndef TAMIS_FILTER_CHANGE_H
#define TAMIS_FILTER_CHANGE_H

#include "filter/publish.h"
#include "txn/commit.h"

#define TAMIS__AGAIN 1

struct tamis__change {
    struct tamis_store *store;
    struct tamis__catalog_txn *txn;
    struct tamis__record before, after;
    bool is_new; /* there is no filter of that name */
    bool edits;  /* the exceptions alone: a list that grew meanwhile is no matter */
    struct tamis__exceptions set; /* settled: as they are, then as they shall be */
    bool found_before; /* those of `before` are of its build in part: they are kept with it */
    bool has_index, committed;
    uint64_t comes_back_with; /* number of the index that was kept with the list that is in force
                                 again; or 0 */
    struct tamis__draft index;
    struct tamis__draft *list;    /* the segment to publish; NULL: the list is there already */
    struct tamis__numbers remove; /* files, after the lock */
};

/* Where there is no such filter: 0, and is_new. */
int tamis__change_load(struct tamis__change *change, const char *name);
/* `needed`: an index even where there are no exceptions. */
int tamis__change_stage(struct tamis__change *change, bool needed);
int tamis__change_lock(struct tamis__change *change);
int tamis__change_commit(struct tamis__change *change);
void tamis__change_end(struct tamis__change *change);

/* Do it over, with a fresh change, while another's keep coming first. */
typedef int tamis__change_fn(void *context);
int tamis__change_try(const char *name, tamis__change_fn *fn, void *context);

/* Bring the items of the list in force up to now, for those who look at it when it is that no more.
 * */
void tamis__change_count(struct tamis__change *change);

/* ---- rollback.c ---------------------------------------------------------------------------- */

#endif
