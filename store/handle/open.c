/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * open.c: the life of a handle: its segments mapped and held against the catalog, its view entered,
 * its counts recorded, its end.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/error.h"
#include "handle/journal.h"
#include "txn/spares.h"
#include "txn/store.h"

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

void tamis__filter_free(struct tamis_filter *filter)
{
    tamis__handles_leave(filter);
    tamis__journal_free(filter);
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
        tamis__filter_free(filter);
        return rc;
    }
    for (uint32_t i = 0; i < record->segment_count; i++)
        filter->recorded_items += record->segments[i].items;
    if (!read_only) tamis__handles_enter(filter);
    *out = filter;
    return 0;
}

/* Under the catalog's lock, so that no drop can take the files away in between. */
static int open_by_name(struct tamis_store *store, const char *name, bool read_only,
                        tamis_filter **filter)
{
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    int rc = tamis__catalog_begin(&store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    rc = tamis__store_get(store, txn, name, &record);
    if (rc == TAMIS_ENOTFOUND)
        rc = tamis__fail_no_filter(store, name);
    else if (rc == 0)
        rc = tamis__filter_open_record(store, &record, read_only, filter);
    tamis__catalog_end(txn);
    return rc;
}

/* Keys of it may be in logs alone, and would seem absent: let one who may write bring them back. */
static int recover_for_reader(const struct tamis_store *reader, const char *name,
                              const struct tamis_filter *filter)
{
    tamis_store *store = NULL;
    tamis_filter *writer = NULL;
    int rc = tamis_store_open(reader->place.path, 0, &store);
    if (rc == 0) rc = tamis_filter_open(store, name, 0, &writer);
    if (rc == 0) rc = tamis_filter_close(writer);
    tamis_store_close(store);
    if (rc == 0 && !tamis__view_is_stale(filter->view)) return 0;
    return tamis__fail(
        TAMIS_EREADONLY,
        "the filter '%s' of the store %s is durable, and keys that were added before "
        "the machine went down are in its logs, which may not be read back here; "
        "have it opened for writing once ('tamis sync')",
        filter->name, reader->place.path);
}

static int settle_logs(struct tamis_store *store, uint64_t filter_id,
                       const struct tamis__view *view)
{
    uint64_t numbers[TAMIS__SEGMENTS_MAX];
    for (uint32_t i = 0; i < view->count; i++)
        numbers[i] = view->segments[i].segment.header->number;
    const int rc = tamis__logs_settle(store, filter_id, numbers, view->count);
    return rc == TAMIS__LOGS_DAMAGED ? tamis__recover(store, filter_id) : rc;
}

int tamis__filter_come_up(struct tamis_store *store, tamis_filter **filter)
{
    const struct tamis__view *view = (*filter)->view;
    int rc = tamis__view_is_stale(view) ? tamis__recover(store, (*filter)->filter_id) : 0;
    if (rc == 0 && view->policy.durable) rc = settle_logs(store, (*filter)->filter_id, view);
    if (rc >= 0) return 0;
    tamis__filter_free(*filter);
    *filter = NULL;
    return rc;
}

static int open_filter(struct tamis_store *store, const char *name, unsigned flags,
                       tamis_filter **filter)
{
    const bool read_only = store->read_only || (flags & TAMIS_READ_ONLY) != 0;
    int rc = tamis__check_name(name);
    if (rc == 0) rc = open_by_name(store, name, read_only, filter);
    if (rc < 0 || *filter == NULL) return rc;
    (*filter)->no_sync = (flags & TAMIS_NO_SYNC) != 0;
    if (!read_only) return tamis__filter_come_up(store, filter);
    if (!(*filter)->view->policy.durable || !tamis__view_is_stale((*filter)->view)) return 0;
    rc = recover_for_reader(store, name, *filter);
    if (rc < 0) {
        tamis__filter_free(*filter);
        *filter = NULL;
    }
    return rc;
}

int tamis__view_populate(const struct tamis__view *view)
{
    int rc = tamis__segment_populate(&view->index.segment);
    for (uint32_t i = 0; rc == 0 && i < view->count; i++)
        rc = tamis__segment_populate(&view->segments[i].segment);
    return rc;
}

void tamis__view_populate_new(const struct tamis_filter *filter, const struct tamis__view *view,
                              struct tamis__view_numbers before)
{
    if (!filter->populate) return;
    /* Numbers rise; only a rollback goes back to lower ones. */
    const uint64_t known = tamis__newest(view)->segment.number < before.newest ? 0 : before.highest;
    if (view->index.segment.number > known) (void)tamis__segment_populate(&view->index.segment);
    for (uint32_t i = 0; i < view->count; i++)
        if (view->segments[i].segment.number > known)
            (void)tamis__segment_populate(&view->segments[i].segment);
}

TAMIS_API int tamis_filter_open(tamis_store *store, const char *name, unsigned flags,
                                tamis_filter **filter)
{
    TAMIS__REFUSE_NULL(store, "store");
    TAMIS__REFUSE_NULL(filter, "filter");
    const unsigned known = TAMIS_READ_ONLY | TAMIS_NO_SYNC | TAMIS_POPULATE;
    if ((flags & ~known) != 0)
        return tamis__fail(TAMIS_EINVAL,
                           "tamis_filter_open flags %#x: use 0, TAMIS_READ_ONLY, TAMIS_NO_SYNC or "
                           "TAMIS_POPULATE",
                           flags);
    *filter = NULL;
    int rc = open_filter(store, name, flags, filter);
    if (rc < 0 || (flags & TAMIS_POPULATE) == 0) return rc;
    (*filter)->populate = true;
    rc = tamis__view_populate((*filter)->view); /* without the catalog's lock: it takes long */
    if (rc == 0) return 0;
    tamis__filter_free(*filter);
    *filter = NULL;
    return rc;
}

int tamis__fail_dropped(const struct tamis_filter *filter)
{
    return tamis__fail(TAMIS_EDROPPED,
                       "the filter '%s' of the store %s was dropped while it was open; close this "
                       "handle",
                       filter->name, filter->store->place.path);
}
