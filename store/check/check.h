/* SPDX-License-Identifier: BSD-2-Clause */
/* check.h: what verify and repair share: files by name, sentences, checks of the data of a
 * segment. */
#pragma once

#include "log/log.h"
#include "txn/files.h"
#include "txn/mapped.h"
#include "txn/store.h"

#define TAMIS__FILE_BYTES 300 /* "segments/" and any name */

/* Gives a name such as "segments/0000000000000017.seg". */
const char *tamis__check_file(uint64_t number, char file[TAMIS__FILE_BYTES]);

/* Gives the part of the last error's sentence that stands behind the file's name, as the caller
 * says the name itself. *offset is the byte that the sentence names, 0 if it names none. */
const char *tamis__check_reason(const char *file, uint64_t *offset);

/* Does this error only say that the system could not look?  Then nobody knows if there is damage.
 * (TAMIS_EIO is no such error for verify: what a disk does not give is damaged.) */
bool tamis__is_of_the_system(int error);

/* Is the number in the list, which is sorted? */
bool tamis__numbers_have(const struct tamis__numbers *numbers, uint64_t number);
void tamis__numbers_sort(struct tamis__numbers *numbers);

/* Says what can be done about damage in the list in force: a clause that goes behind what is
 * wrong. */
#define TAMIS__MEND_BYTES 500
/* Stands in the text of a repair's step before what the user can do. */
#define TAMIS__MENDS "; to mend it: "
int tamis__check_mend(struct tamis_store *store, struct tamis__catalog_txn *txn,
                      const struct tamis__record *record, char mend[TAMIS__MEND_BYTES]);

/* What is wrong with a file (a clause that fits behind its name), and at which byte. */
struct tamis__damage {
    uint64_t offset;
    bool of_count; /* the catalog has another count; see notes.h */
    bool is_odd;   /* it may be damage; adders that were killed or stopped may explain it as well */
    char reason[400];
};

/* Is it a segment of this store to which nothing was ever added?  A process that was killed between
 * giving a new segment its name and the commit has left one that the catalog does not have. */
bool tamis__segment_is_unused(const struct tamis__place *place, uint64_t number, uint64_t store_id);

struct tamis__meter; /* notes.h */

/*
 * Do the data of an open segment agree with its header and its counters?  Returns 0, TAMIS_ENOMEM,
 * 1 with *damage (which may only be odd), or what the meter returned.  Reads all data, beside any
 * writer, and gives back the pages that it has read.  recorded_items: what the catalog knew before
 * this call.
 */
int tamis__check_data(const struct tamis__mapped_segment *s, uint64_t recorded_items,
                      const struct tamis__meter *meter, struct tamis__damage *damage);

/*
 * Reports what is wrong in logs/ for a filter (0: for all filters, and for files of no filter).  A
 * log is an orphan if the catalog does not have the filter in its name, and its owner is dead
 * (logs.c).
 */
struct tamis__log_finding {
    const char *filter, *file, *reason; /* filter "": none; file "logs/<name>" */
    int error;
    uint64_t filter_id;              /* 0: none */
    const struct tamis__log *orphan; /* with its lock, during the call; NULL: no orphan */
};
typedef int tamis__log_finding_fn(void *context, const struct tamis__log_finding *finding);
int tamis__check_logs(const struct tamis_store *store, struct tamis__catalog_txn *txn,
                      uint64_t filter_id, tamis__log_finding_fn *fn, void *context);
