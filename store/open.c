/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * open.c: the life of a handle: its segments mapped and held against the catalog, its view entered, its
 * counts recorded, its end.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "store.h"

/* ---- Opening and closing --------------------------------------------------------------------- */

int tamis__adopt_segment(struct tamis_store *store, uint64_t filter_id, int rc,
                         struct tamis__store_segment *out)
{
    const struct tamis__segment_header *header = out->segment.header;
    char name[TAMIS__SEGMENT_NAME_BYTES];
    tamis__segment_name(header->number, name);
    if (rc == 0 && (header->store_id != store->store_id || header->filter_id != filter_id))
        rc = tamis__fail(
            TAMIS_EFOREIGN, "%s/segments/%s belongs to another %s; restore the right file",
            store->place.path, name, header->store_id != store->store_id ? "store" : "filter");
    if (rc == 0) {
        out->references = malloc(sizeof *out->references);
        if (out->references != NULL)
            *out->references = 1;
        else
            rc = tamis__fail(TAMIS_ENOMEM, "out of memory opening %s/segments/%s",
                             store->place.path, name);
    }
    if (rc < 0) tamis__segment_close(&out->segment);
    return rc;
}

int tamis__map_segment(struct tamis_store *store, uint64_t number, uint64_t filter_id,
                       bool writable, struct tamis__store_segment *out)
{
    const char *reason = "is of a kind that this library does not have; use a newer Tamis";
    char name[TAMIS__SEGMENT_NAME_BYTES];
    int rc = tamis__segment_open(&store->place, number, writable, &out->segment);
    if (rc < 0) return rc;
    const struct tamis__segment_header *header = out->segment.header;
    tamis__segment_name(number, name);
    out->kind = tamis__kind_by_id(header->kind);
    rc = out->kind ? out->kind->check(header, &reason) : TAMIS_EVERSION;
    if (rc < 0)
        rc = tamis__fail(rc, "%s/segments/%s %s", store->place.path, name, reason);
    else if (writable && (header->compat_flags & ~TAMIS__COMPAT_KNOWN) != 0)
        rc = tamis__fail(TAMIS_EVERSION,
                         "%s/segments/%s was extended by a newer version of Tamis; open it "
                         "read-only, or use that version",
                         store->place.path, name);
    return tamis__adopt_segment(store, filter_id, rc, out);
}

int tamis__open_segment(struct tamis_store *store, const struct tamis__record *record,
                        uint32_t index, bool writable, struct tamis__store_segment *out)
{
    const struct tamis__record_segment *entry = &record->segments[index];
    char name[TAMIS__SEGMENT_NAME_BYTES];
    int rc = tamis__map_segment(store, entry->number, record->filter_id, writable, out);
    if (rc < 0) return rc;
    const char *field = tamis__record_contradiction(entry, out->segment.header);
    tamis__segment_name(entry->number, name);
    if (field != NULL)
        rc = tamis__fail(TAMIS_ECORRUPT,
                         "%s/segments/%s contradicts the catalog in its %s; restore both from one "
                         "copy",
                         store->place.path, name, field);
    else if (writable)
        rc = tamis__segment_relabel(&store->place, &out->segment, record->name_sequence,
                                    record->name);
    if (rc < 0) tamis__close_segment(out);
    return rc;
}

static void filter_free(struct tamis_filter *filter)
{
    tamis__view_free(filter->view);
    tamis__view_reclaim(filter);
    tamis_store_close(filter->store);
    free(filter);
}

int tamis__filter_open_record(struct tamis_store *store, const struct tamis__record *record,
                              bool read_only, tamis_filter **out)
{
    struct tamis_filter *filter = calloc(1, sizeof *filter);
    if (filter == NULL)
        return tamis__fail(TAMIS_ENOMEM, "out of memory opening the filter '%s'", record->name);
    filter->store = tamis__store_reference(store);
    memcpy(filter->name, record->name, sizeof filter->name);
    filter->filter_id = record->filter_id;
    filter->read_only = read_only;
    const int rc = tamis__view_make(store, record, read_only, NULL, &filter->view);
    if (rc < 0) {
        filter_free(filter);
        return rc;
    }
    for (uint32_t i = 0; i < record->segment_count; i++)
        filter->recorded_items += record->segments[i].items;
    *out = filter;
    return 0;
}

TAMIS_API int tamis_filter_open(tamis_store *store, const char *name, unsigned flags,
                                tamis_filter **filter)
{
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    if ((flags & ~TAMIS_READ_ONLY) != 0)
        return tamis__fail(TAMIS_EINVAL, "tamis_filter_open flags %#x: use 0 or TAMIS_READ_ONLY",
                           flags);
    int rc = tamis__check_name(name);
    if (rc == 0) rc = tamis__catalog_begin(&store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    rc = tamis__catalog_get(txn, name, &record);
    if (rc == TAMIS_ENOTFOUND)
        rc = tamis__fail_no_filter(store, name);
    else if (rc == 0) /* under the lock, so that no drop can take the files away in between */
        rc = tamis__filter_open_record(store, &record,
                                       store->read_only || (flags & TAMIS_READ_ONLY), filter);
    tamis__catalog_end(txn);
    return rc;
}

int tamis__fail_dropped(const struct tamis_filter *filter)
{
    return tamis__fail(TAMIS_EDROPPED,
                       "the filter '%s' of the store %s was dropped while it was open; close this "
                       "handle",
                       filter->name, filter->store->place.path);
}

/*
 * Record the counts, read under the exclusive lock so that they never go back; and the checkpoint's
 * time, unless it is 0 or the list has gone on since `view`, which was written to the disk.
 */
static int record_items(struct tamis_filter *filter, const struct tamis__view *view,
                        int64_t checkpointed_at)
{
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    int rc = tamis__store_begin_write(filter->store, &txn);
    if (rc < 0) return rc;
    rc = tamis__catalog_get_by_id(txn, filter->filter_id, &record);
    if (rc == TAMIS_ENOTFOUND) rc = tamis__fail_dropped(filter);
    if (rc == 0) {
        const uint32_t known = tamis__view_count_record(view, &record);
        rc = tamis__view_check(view);
        if (known == record.segment_count && checkpointed_at > record.checkpointed_at)
            record.checkpointed_at = checkpointed_at;
        if (rc == 0) rc = tamis__catalog_put(txn, &record);
        if (rc == 0) rc = tamis__catalog_commit(txn);
        /* ORDER relaxed: a hint that saves a commit; the catalog is the truth. */
        if (rc == 0)
            __atomic_store_n(&filter->recorded_items, tamis__view_items(view), __ATOMIC_RELAXED);
    }
    tamis__catalog_end(txn);
    return rc;
}

TAMIS_API int tamis_filter_close(tamis_filter *filter)
{
    if (filter == NULL) return 0;
    int rc = 0;
    /* ORDER relaxed: see record_items. */
    const bool changed = tamis__view_items(filter->view) !=
                         __atomic_load_n(&filter->recorded_items, __ATOMIC_RELAXED);
    rc = tamis__view_check(filter->view);
    if (rc == 0 && !filter->read_only && changed) rc = record_items(filter, filter->view, 0);
    if (rc == TAMIS_EDROPPED) rc = 0; /* no catalog entry is left to be wrong */
    filter_free(filter);
    return rc;
}

/* ---- Checkpoint ------------------------------------------------------------------------------ */

TAMIS_API int tamis_filter_sync(tamis_filter *filter)
{
    const int64_t now =
        tamis__now_ns(); /* before the writes: what comes later may not be in them */
    struct tamis__view *view;
    if (filter->read_only) return tamis__fail_read_only(filter);
    int rc = tamis__visit(filter, &view);
    if (rc < 0) return rc;
    for (uint32_t i = 0; rc == 0 && i < view->count; i++)
        rc = tamis__segment_sync(&filter->store->place, &view->segments[i].segment);
    if (rc == 0) rc = record_items(filter, view, now);
    return (int)tamis__leave_with(filter, view, rc);
}
