/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * publish.h: another list of segments, or other exceptions, for a filter that is in use.
 *
 * What may take long is done before: an edition comes with its segment filled and synced, and the
 * index of exceptions is staged without the catalog's lock.  docs/generations.md has the order of
 * the steps, docs/concurrency.md why every handle answers from the one or from the other.
 */
#ifndef TAMIS_FILTER_PUBLISH_H
#define TAMIS_FILTER_PUBLISH_H

#include "exceptions/set.h"
#include "txn/store.h"

/* A generation that is made and not in force yet. */
struct tamis__edition {
    const char *name;
    struct tamis__draft *draft; /* staged, filled and settled, items in its header; used up */
    uint64_t capacity;
    double fp_rate;
    struct tamis__policy policy;
    bool set_keep; /* `keep` is given; else it stays as it is */
    uint32_t keep;
    uint8_t key_digest[TAMIS__KEY_DIGEST_BYTES];
    const struct tamis__exceptions
        *by_hand; /* more of them; NULL: none.  Settled, as is the next */
    const struct tamis__exceptions
        *found; /* by its build; NULL: none.  Their generation is set here */
};

/*
 * Put it in force; makes the filter where there is none of that name.  Of *result generation,
 * exceptions and size_bytes are filled in.  TAMIS_EMISMATCH: the filter that is there counts, or
 * has a window.  On any error what was in force stays so, and the draft is discarded.
 */
int tamis__publish_edition(struct tamis_store *store, struct tamis__edition *edition,
                           struct tamis_build_result *result);

/* Can another generation of it be published?  0 or TAMIS_EMISMATCH. */
int tamis__check_replaceable(const struct tamis__record *record);

#endif
