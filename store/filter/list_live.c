/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list_live.c: lists filters with what their segments say now.
 *
 * tamis_store_list() tells what the catalog has, and adders bring their counts to the catalog only
 * at a checkpoint.  Here the headers are read too, with one pread for each segment.  No file is
 * mapped, and the catalog's lock is given back before, so that nobody waits for 10,000 files.  A
 * filter whose headers cannot be read is listed as the catalog has it.  Its headers are then read
 * once more under the lock; if they are damaged, the filter is listed as damaged.
 */
#include "filter/stat.h"
#include "txn/recover.h"
#include "txn/spares.h"
#include "txn/store.h"

/* A filter of the catalog.  Its record is cut to the bytes that its segments and spares need. */
struct listed {
    struct listed *next;
    struct tamis__trouble trouble;
    size_t bytes;
    unsigned char record[];
};

struct listing {
    struct tamis__catalog_txn *txn;
    struct listed *first, **end;
};

static int collect(void *context, const struct tamis__record *record)
{
    struct listing *listing = context;
    const size_t bytes = offsetof(struct tamis__record, segments) +
                         (record->segment_count + record->spare_count) * sizeof record->segments[0];
    struct listed *listed = malloc(sizeof *listed + bytes);
    if (listed == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory listing the filters");
    listed->next = NULL;
    listed->bytes = bytes;
    memcpy(listed->record, record, bytes);
    *listing->end = listed;
    listing->end = &listed->next;
    return tamis__catalog_get_trouble(listing->txn, record->filter_id, &listed->trouble);
}

/* Does this error tell of damage, and not only that a file could not be read? */
static bool is_damage(int error)
{
    return error == TAMIS_ECORRUPT || error == TAMIS_EFOREIGN || error == TAMIS_ENOTFOUND;
}

static int judge(const struct tamis_store *store, const struct tamis__record *record,
                 uint32_t index, struct tamis__segment_header *header)
{
    const struct tamis__record_segment *segment = &record->segments[index];
    const int rc = tamis__segment_judge(&store->place, segment->number, header);
    if (rc < 0) return rc;
    return header->filter_id != record->filter_id ||
                   tamis__record_contradiction(segment, header) != NULL
               ? TAMIS_ECORRUPT
               : 0;
}

/* Is a segment of the filter damaged?  Called with the catalog's lock, under which none of them
 * goes away. */
static bool is_damaged(struct tamis_store *store, uint64_t filter_id)
{
    struct tamis__segment_header header;
    struct tamis__catalog_txn *txn;
    bool damaged = false;
    struct tamis__record *record = malloc(sizeof *record); /* too large for the stack */
    if (record == NULL || tamis__catalog_begin(&store->catalog, TAMIS__LOCK_SHARED, &txn) < 0) {
        free(record);
        return false;
    }
    const int rc = tamis__store_get_by_id(store, txn, filter_id, record);
    for (uint32_t i = 0; rc == 0 && i < record->segment_count; i++)
        damaged = damaged || is_damage(judge(store, record, i, &header));
    tamis__catalog_end(txn);
    free(record);
    return damaged;
}

/* Brings the record up to what the headers say, and the trouble too if all of them can be read. */
static void look(struct tamis_store *store, struct tamis__record *record,
                 struct tamis__trouble *trouble)
{
    struct tamis__segment_header header;
    struct tamis__trouble now = {.damaged_since = trouble->damaged_since};
    bool all = true, damaged = false;
    tamis__record_promote(&store->place, record);
    for (uint32_t i = 0; i < record->segment_count; i++) {
        struct tamis__record_segment *segment = &record->segments[i];
        const int rc = judge(store, record, i, &header);
        all = all && rc == 0;
        damaged = damaged || is_damage(rc);
        if (rc < 0) continue;
        segment->items = tamis__header_items(&header);
        segment->file_bytes = tamis__header_file_bytes(&header);
        tamis__add_trouble(&now, &header);
    }
    if (all) *trouble = now;
    if (damaged && trouble->damaged_since == 0 && is_damaged(store, record->filter_id))
        trouble->damaged_since = tamis__now_ns();
}

TAMIS_API int tamis_store_list_live(tamis_store *store, const char *prefix, tamis_list_fn *fn,
                                    void *context)
{
    struct listing listing = {.first = NULL, .end = &listing.first};
    if (store == NULL || fn == NULL)
        return tamis__fail(TAMIS_EINVAL, "tamis_store_list_live needs a store and a function");
    struct tamis__record *record = malloc(sizeof *record);
    int rc = record == NULL
                 ? tamis__fail(TAMIS_ENOMEM, "out of memory listing the filters")
                 : tamis__catalog_begin(&store->catalog, TAMIS__LOCK_SHARED, &listing.txn);
    if (rc == 0) {
        rc = tamis__catalog_each(listing.txn, prefix ? prefix : "", collect, &listing);
        tamis__catalog_end(listing.txn);
    }
    for (struct listed *next, *listed = listing.first; listed != NULL; listed = next) {
        next = listed->next;
        if (rc == 0) {
            struct tamis_filter_stat stat;
            memcpy(record, listed->record, listed->bytes);
            look(store, record, &listed->trouble);
            tamis__stat_from_record(record, &stat);
            tamis__stat_set_trouble(&stat, listed->trouble);
            rc = fn(context, &stat);
        }
        free(listed);
    }
    free(record);
    return rc;
}
