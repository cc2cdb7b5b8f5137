/* SPDX-License-Identifier: BSD-2-Clause */
/* store.h: what is behind tamis_store and tamis_filter, for the files of this folder and check/. */
#ifndef TAMIS_STORE_STORE_H
#define TAMIS_STORE_STORE_H

#include <stdbool.h>

#include "catalog/catalog.h"
#include "kind/kind.h"

struct tamis_store {
    unsigned references; /* atomic: the handle's and each open filter's */
    bool read_only;
    int root_fd;
    uint64_t store_id;
    struct tamis__place place;
    struct tamis__catalog catalog;
};

struct tamis__store_segment {
    struct tamis__segment segment;
    const struct tamis__kind *kind;
};

/*
 * Constant after opening, but for the three atomics: so any number of threads may use it, and a
 * child born by fork() finds no lock held.
 */
struct tamis_filter {
    struct tamis_store *store; /* a reference */
    uint64_t filter_id;
    uint64_t generation;
    bool read_only;
    uint64_t epoch;          /* atomic: the newest segment's, when the catalog was last looked at */
    bool dropped;            /* atomic: the catalog has this filter no more */
    uint64_t recorded_items; /* atomic: what the catalog was last told or has told */
    uint32_t segment_count;
    struct tamis__store_segment segments[]; /* the newest last */
};

struct tamis_store *tamis__store_reference(struct tamis_store *store);

/* Exclusive transaction, after removing what earlier ones left (catalog.h, garbage). */
int tamis__store_begin_write(struct tamis_store *store, struct tamis__catalog_txn **txn);

/* Sets the sentence for a name that is not in the catalog; returns TAMIS_ENOTFOUND. */
int tamis__fail_no_filter(const struct tamis_store *store, const char *name);
int tamis__fail_exists(const char *name); /* TAMIS_EEXIST */
int tamis__check_name(const char *name);

/* What the catalog knows of a filter, as the public struct. */
void tamis__stat_from_record(const struct tamis__record *record, struct tamis_filter_stat *stat);
/* The fields that follow from the item count. */
void tamis__stat_set_items(struct tamis_filter_stat *stat, const struct tamis__record *record,
                           const uint64_t *segment_items);

/* Map one segment of a record and hold it against the catalog.  TAMIS_ECORRUPT and the like. */
int tamis__open_segment(struct tamis_store *store, const struct tamis__record *record,
                        uint32_t index, bool writable, struct tamis__store_segment *segment);

/* A handle on the filter of a record; the caller holds the catalog's lock. */
int tamis__filter_open_record(struct tamis_store *store, const struct tamis__record *record,
                              bool read_only, tamis_filter **filter);

/* A spec made whole: geometry, rate and hash set, checked. */
struct tamis__plan {
    struct tamis_sizing sizing;
    const struct tamis__hash_set *hash_set;
    uint8_t parameters[TAMIS__HASH_PARAMETER_BYTES];
    uint32_t bit_order; /* that of the hash set */
    uint64_t seed;
};
int tamis__plan_filter(const struct tamis_filter_spec *spec, struct tamis__plan *plan);
void tamis__plan_describe(const struct tamis__plan *plan, struct tamis__record_segment *segment);

/* ---- draft.c: segments on their way into the store ---------------------------------------------
 */

/* A segment whose file is in staging/, or not made yet (staged.fd < 0).  Until it is entered, its
 * header is here alone and may be added to. */
struct tamis__draft {
    struct tamis__segment_header header;
    struct tamis__staged staged;
};

/* The list of segments, oldest first, that shall be the filter `name`. */
struct tamis__entry {
    const char *name;
    struct tamis__draft *drafts;
    uint32_t count;
    uint64_t capacity;
    double fp_rate;
    bool
        filled; /* the segments have contents already, so that an orphan of them is no empty file */
};

/* TAMIS_EEXIST now rather than after allocating gigabytes. */
int tamis__check_absent(struct tamis_store *store, const char *name);
/* A header for what is described: number, filter_id and file_bytes of it are not looked at. */
void tamis__draft_init(const struct tamis_store *store, const char *name,
                       const struct tamis__record_segment *segment, struct tamis__draft *draft);
/* Make its file, allocated and zero. */
int tamis__draft_stage(struct tamis_store *store, struct tamis__draft *draft);
/* Publish all of them in one commit; filter may be NULL.  On any error nothing of them is left. */
int tamis__drafts_enter(struct tamis_store *store, const struct tamis__entry *entry,
                        tamis_filter **filter);
/* Remove what was staged and not entered; harmless on what is not staged. */
void tamis__drafts_discard(struct tamis_store *store, struct tamis__draft *drafts, uint32_t count);

#endif
