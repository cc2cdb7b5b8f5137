/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * publish.h: puts another list of segments, or other exceptions, in force for a filter that is in
 * use.
 *
 * What may take long is done before.  An edition comes with its segment filled and synced, and the
 * index of exceptions is staged without the catalog's lock. docs/generations.md has the order of
 * the steps. docs/concurrency.md says why every handle answers either from the old or from the new
 * list.
 */
#pragma once

#include "exceptions/set.h"
#include "txn/store.h"

/* What is in force: a filter that was dropped and made again counts its generations from 1 again.
 * Zeros: no filter is. */
struct tamis__over {
    uint64_t generation;
    int64_t created_at;
};

/* Guards against a list that is much too short.  All zero: none. */
struct tamis__guards {
    uint64_t at_least; /* keys */
    bool has_max_shrink;
    double max_shrink; /* percent */
};

/* A generation that is made and is not in force yet. */
struct tamis__edition {
    const char *name;
    /* Oldest first: staged, filled and synced, items in their headers; used up. */
    struct tamis__draft *drafts;
    uint32_t count;
    bool only_over; /* publish only if this is in force */
    struct tamis__over over;
    struct tamis__guards guards;
    bool replaces_any; /* also a filter that counts, or that has a window */
    uint64_t capacity;
    double fp_rate;
    struct tamis__policy policy;
    bool set_keep; /* `keep` is given; otherwise that of the filter stays */
    uint32_t keep;
    uint8_t key_digest[TAMIS__KEY_DIGEST_BYTES];
    const struct tamis__exceptions
        *by_hand; /* more exceptions by hand; NULL: none.  Sorted, as `found` is */
    const struct tamis__exceptions
        *found; /* found by its build; NULL: none.  Their generation is set here */
};

#define TAMIS__MOVED 2

/* What came of it. */
struct tamis__published {
    uint64_t generation, exceptions, size_bytes;
};

/*
 * Puts an edition in force; makes the filter if there is none of that name.  TAMIS__MOVED:
 * another generation than that of `over` is in force, and the drafts are as they were.
 * TAMIS_EMISMATCH: the existing filter counts, or has a window, or is durable, which the edition
 * cannot be, or has another key rule; or the edition has too few keys for its guards.  After an
 * error the generation that was in force still is, and the drafts are discarded.
 */
int tamis__publish_edition(struct tamis_store *store, struct tamis__edition *edition,
                           struct tamis__published *published);

/* Is max_shrink a percentage?  0 or TAMIS_EINVAL. */
int tamis__guards_check(const struct tamis__guards *guards);
/* Would a list of so many keys pass the guards now?  0 or TAMIS_EMISMATCH.  It is asked for early,
 * before a list is made for nothing; tamis__publish_edition() asks again, when nobody can publish
 * in between. */
int tamis__guards_pass(const struct tamis__guards *guards, struct tamis_store *store,
                       const char *name, uint64_t items);

/* Can so many older generations be kept?  0 or TAMIS_EINVAL. */
int tamis__check_keep(uint32_t keep);
/* Can another generation of the filter be published?  0 or TAMIS_EMISMATCH. */
int tamis__check_replaceable(const struct tamis__record *record);
/* Can it have that key rule?  0 or TAMIS_EMISMATCH. */
int tamis__check_key_rule(const struct tamis__record *before, const char *key_rule);
