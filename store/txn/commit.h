/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * commit.h: the one way in which segments and exceptions come into force, and go.
 *
 *     number    each file that comes gets its number.  A file with keys in it is noted as garbage
 *               too, in a commit of its own
 *     name      the files get their names in segments/
 *     write     the record, the list before it and the garbage go into the transaction
 *     raise     the epochs of the list before it: open handles come, and wait for the lock
 *     commit    from here on the change is in force
 *     tell      live words lead those handles on that do not look at the catalog
 *
 * What may take long (filling, syncing) is done before, without a lock; what was replaced is
 * unlinked by the caller, after the lock.  docs/concurrency.md, "One commit", says what a crash
 * leaves at each step.
 */
#pragma once

#include "catalog/record.h"
#include "txn/draft.h"
#include "txn/files.h"

/* What the drafts of a commit become. */
enum tamis__come {
    TAMIS__COME_NOT,    /* no drafts: the list is there already, or stays as it is */
    TAMIS__COME_LIST,   /* a list of their own, oldest first, in the stead of the one before it */
    TAMIS__COME_SPARES, /* spares behind the newest segment (txn/spares.h) */
    TAMIS__COME_BEHIND  /* one segment behind the newest, which is left for it at once */
};

/* Opens what is being made, before the commit, so that nothing is left either when an open fails.
 * If the commit fails after that, it is called again with `record` NULL. */
typedef int tamis__opened_fn(void *context, struct tamis_store *store,
                             const struct tamis__record *record);

struct tamis__commit {
    struct tamis_store *store;
    struct tamis__catalog_txn *txn;     /* of tamis__store_begin_write() */
    const struct tamis__record *before; /* as the catalog has it; NULL: there is no such filter */
    /* The record as it is to be.  The commit fills in the publication, the numbers of files and the
     * segments of the drafts. */
    struct tamis__record *after;

    enum tamis__come come;
    struct tamis__draft *drafts;
    uint32_t count;
    bool filled;                /* the drafts have keys in them, or are one of many */
    struct tamis__draft *index; /* the new index of exceptions; NULL: none */
    bool keeps_exceptions;      /* the list before is kept, and its exceptions with it */
    uint64_t comes_back_with;   /* the index that was kept with a list that comes back; or 0 */
    uint32_t behind;            /* number of the oldest segments that go */
    const struct tamis__segment *left; /* the newest segment of `before`, mapped; for COME_SPARES
                                          and COME_BEHIND */
    struct tamis__numbers *remove; /* the files that go are appended; they are noted as garbage, and
                                      unlinked after the commit.  NULL if none can go */
    tamis__opened_fn *opened;      /* NULL: no handle is wanted */
    void *context;
    bool is_one_of_many; /* set by tamis__commit_many() */
};

/* Puts all of it in force.  After an error nothing has changed: what was in force still is, and the
 * files that had got their names are removed.  The caller ends the transaction. */
int tamis__commit(struct tamis__commit *commit);

/* The same for many new filters of one transaction, whose files come to the disk together: each
 * has `filled` and neither `before` nor `opened`.  After an error there is none of them. */
int tamis__commit_many(struct tamis__commit *commits, uint32_t count);
