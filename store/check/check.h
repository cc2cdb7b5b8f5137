/* SPDX-License-Identifier: BSD-2-Clause */
/* check.h: what verify and repair share: files by name, sentences, what the data of a segment say.
 * */
#ifndef TAMIS_CHECK_CHECK_H
#define TAMIS_CHECK_CHECK_H

#include "filter/publish.h"
#include "log/log.h"
#include "txn/files.h"
#include "txn/mapped.h"
#include "txn/store.h"

#define TAMIS__FILE_BYTES 300 /* "segments/" and any name */

/* "segments/0000000000000017.seg" */
const char *tamis__check_file(uint64_t number, char file[TAMIS__FILE_BYTES]);

/* Of the last error's sentence what stands behind the file's name, which the caller says itself;
 * and the byte that it names, 0 if none. */
const char *tamis__check_reason(const char *file, uint64_t *offset);

/* Is the number in the list, which is sorted? */
bool tamis__numbers_have(const struct tamis__numbers *numbers, uint64_t number);
void tamis__numbers_sort(struct tamis__numbers *numbers);

/* The newest kept generation of a filter whose files are there and sound, which reads them; 0:
 * none. */
int tamis__generation_to_go_back_to(struct tamis_store *store, struct tamis__catalog_txn *txn,
                                    uint64_t filter_id, uint64_t *generation);
/* What can be done about damage in the list in force: a clause that goes behind what is wrong. */
#define TAMIS__MEND_BYTES 500
int tamis__check_mend(struct tamis_store *store, struct tamis__catalog_txn *txn,
                      const struct tamis__record *record, char mend[TAMIS__MEND_BYTES]);

/*
 * Are the data of a segment that is open what its header, and its counters, say?  0; TAMIS_ENOMEM;
 * or 1 with what is wrong (a clause that fits behind the file's name) and at which byte.  Reads all
 * of them, beside any writer, and lets pages go that it has read.  recorded_items: that the catalog
 * knew before this was called.
 */
#define TAMIS__CHECK_BYTES 400
int tamis__check_data(const struct tamis__store_segment *s, uint64_t recorded_items,
                      uint64_t *offset, char reason[TAMIS__CHECK_BYTES]);

/*
 * logs.c: what is wrong in logs/, of a filter (0: of all, and what is none's).  A log that the name
 * says is of a filter that the catalog does not have, and whose owner is dead, is an orphan.
 */
struct tamis__log_finding {
    const char *filter, *file, *reason; /* filter "": none; file "logs/<name>" */
    int error;
    uint64_t filter_id;              /* 0: none */
    const struct tamis__log *orphan; /* with its lock, while the call lasts; NULL: it is none */
};
typedef int tamis__log_finding_fn(void *context, const struct tamis__log_finding *finding);
int tamis__check_logs(const struct tamis_store *store, struct tamis__catalog_txn *txn,
                      uint64_t filter_id, tamis__log_finding_fn *fn, void *context);

#endif
