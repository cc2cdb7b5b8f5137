/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * publish.h: another list of segments, or other exceptions, for a filter that is in use.
 *
 * What may take long is done before: an edition comes with its segment filled and synced, and the
 * index of exceptions is staged without the catalog's lock.  docs/generations.md has the order of
 * the steps, docs/concurrency.md why every handle answers from the one or from the other.
 */
#ifndef TAMIS_STORE_PUBLISH_H
#define TAMIS_STORE_PUBLISH_H

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

/* Numbers of segments; free() the list. */
struct tamis__numbers {
    uint64_t *list;
    size_t count, room;
};
int tamis__numbers_append(struct tamis__numbers *numbers, uint64_t number);
/* Note a segment as garbage, and as a file to be unlinked after the commit. */
int tamis__remove_later(struct tamis__catalog_txn *txn, struct tamis__numbers *files,
                        uint64_t number);
/* Unlink them; what fails stays noted as garbage, for the next writer. */
void tamis__remove_files(struct tamis_store *store, struct tamis__numbers *files);

/* All files of a filter: the list in force, those that are kept, and their indexes of exceptions.
 * */
int tamis__list_files(struct tamis__catalog_txn *txn, const struct tamis__record *record,
                      struct tamis__numbers *files);

/* Of a filter that goes: forget it and its kept generations, and note all of its segments,
 * those in force too, as garbage; `files` are to be unlinked after the commit. */
int tamis__forget_all(struct tamis__catalog_txn *txn, const struct tamis__record *record,
                      struct tamis__numbers *files);

#endif
