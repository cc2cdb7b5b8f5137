/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * draft.c: from segments that are made to a filter that is there.
 *
 *     tamis__draft_init      a header from a description
 *     tamis__draft_stage     its file, allocated in full, in staging/
 *     (an import writes the data into it)
 *     tamis__drafts_enter    under the catalog's exclusive lock: numbers and names for all of them,
 *                            a record, one commit
 *
 * What may take long is done before the lock is taken.  Whatever fails, nothing is left behind: the
 * files that were staged go, and so do those that were renamed and not committed.  What a crash
 * leaves is swept by the next maker (segment.h).
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "store.h"

void tamis__draft_init(const struct tamis_store *store, const char *name,
                       const struct tamis__record_segment *segment, struct tamis__draft *draft)
{
    struct tamis__layout layout;
    struct tamis__segment_header *header = &draft->header;
    tamis__layout(segment->m_bits, &layout);
    memset(draft, 0, sizeof *draft);
    memcpy(header->magic, TAMIS__SEGMENT_MAGIC, sizeof header->magic);
    header->format_version = TAMIS__FORMAT_VERSION;
    header->header_bytes = TAMIS__HEADER_BYTES;
    header->store_id = store->store_id;
    header->kind = segment->kind;
    header->hash_set = segment->hash_set;
    memcpy(header->parameters, segment->parameters, sizeof header->parameters);
    header->seed = segment->seed;
    header->m_bits = segment->m_bits;
    header->k = segment->k;
    header->words = segment->words;
    header->capacity = segment->capacity;
    header->fp_rate = tamis__double_to_bits(segment->fp_rate);
    header->data_offset = layout.data_offset;
    header->data_bytes = layout.data_bytes;
    header->file_bytes = layout.file_bytes;
    header->created_at = segment->created_at ? segment->created_at : tamis__now_ns();
    header->bit_order = segment->bit_order;
    header->stripes = TAMIS__STRIPES;
    header->generation = 1;
    header->items[0].items = segment->items;
    tamis__label_write(&header->labels[0], 1, name);
}

int tamis__draft_stage(struct tamis_store *store, struct tamis__draft *draft)
{
    return tamis__segment_stage(&store->place, draft->header.file_bytes, &draft->staged);
}

void tamis__drafts_discard(struct tamis_store *store, struct tamis__draft *drafts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        tamis__segment_discard(&store->place, &drafts[i].staged);
}

/*
 * The next segment number that is free.  A file that has it already is an orphan of a maker that died
 * before its commit, and is removed if it never was in force.  Otherwise this catalog is older than its
 * segments (restored from a copy): the file is left alone, and ids go on above its own.
 */
static int take_number(struct tamis_store *store, struct tamis__store_record *counters,
                       uint64_t *number)
{
    for (;;) {
        uint64_t filter_id = 0;
        *number = counters->next_segment++;
        const int rc = tamis__segment_vacate(&store->place, *number, &filter_id);
        if (rc != 0) return rc < 0 ? rc : 0;
        if (filter_id >= counters->next_filter_id) counters->next_filter_id = filter_id + 1;
    }
}

/* Under the lock: numbers and names.  *published counts the segments that have theirs. */
static int publish(struct tamis_store *store, struct tamis__store_record *counters,
                   struct tamis__draft *drafts, uint32_t count, struct tamis__record *record,
                   uint32_t *published)
{
    for (uint32_t i = 0; i < count; i++) {
        struct tamis__segment_header *header = &drafts[i].header;
        int rc = take_number(store, counters, &header->number);
        if (rc < 0) return rc;
        header->filter_id = record->filter_id;
        rc = tamis__segment_publish(&store->place, &drafts[i].staged, header);
        if (rc < 0) return rc;
        tamis__record_segment_from_header(header, &record->segments[i]);
        record->segments[i].items = header->items[0].items;
        *published = i + 1;
    }
    return 0;
}

/* After the commit.  What a crash leaves unmarked the next open for writing marks. */
static void mark_in_force(struct tamis_store *store, const struct tamis__record *record)
{
    for (uint32_t i = 0; i < record->segment_count; i++) {
        struct tamis__segment segment;
        if (tamis__segment_open(&store->place, record->segments[i].number, true, &segment) < 0)
            continue;
        tamis__segment_mark_in_force(&segment);
        tamis__segment_close(&segment);
    }
}

/* Under the lock: publish, record, open if a handle is wanted, commit. */
static int enter(struct tamis_store *store, struct tamis__catalog_txn *txn,
                 const struct tamis__entry *entry, tamis_filter **filter)
{
    struct tamis__store_record *counters = tamis__catalog_store(txn);
    struct tamis__record record;
    tamis_filter *opened = NULL;
    uint32_t published = 0;
    int rc = tamis__catalog_get(txn, entry->name, &record);
    if (rc == 0) return tamis__fail_exists(entry->name);
    if (rc != TAMIS_ENOTFOUND) return rc;
    record = (struct tamis__record){.filter_id = counters->next_filter_id++,
                                    .name_sequence = 1,
                                    .generation = 1,
                                    .capacity = entry->capacity,
                                    .fp_rate = entry->fp_rate,
                                    .created_at = tamis__now_ns(),
                                    .published_at = tamis__now_ns(),
                                    .segment_count = entry->count};
    (void)snprintf(record.name, sizeof record.name, "%s", entry->name);
    rc = publish(store, counters, entry->drafts, entry->count, &record, &published);
    if (rc == 0) rc = tamis__catalog_put(txn, &record);
    /* Before the commit, so that an open that fails leaves nothing either. */
    if (rc == 0 && filter != NULL) rc = tamis__filter_open_record(store, &record, false, &opened);
    if (rc == 0) rc = tamis__catalog_commit(txn);
    if (rc < 0) {
        (void)tamis_filter_close(opened); /* its counts are the record's: no catalog is needed */
        while (published > 0)
            (void)tamis__segment_remove(&store->place, record.segments[--published].number);
    } else {
        mark_in_force(store, &record);
        if (filter != NULL) *filter = opened;
    }
    return rc;
}

int tamis__drafts_enter(struct tamis_store *store, const struct tamis__entry *entry,
                        tamis_filter **filter)
{
    struct tamis__catalog_txn *txn;
    int rc = tamis__store_begin_write(store, &txn);
    if (rc == 0) {
        rc = enter(store, txn, entry, filter);
        tamis__catalog_end(txn);
    }
    tamis__drafts_discard(store, entry->drafts, entry->count);
    return rc;
}

int tamis__check_absent(struct tamis_store *store, const char *name)
{
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    int rc = tamis__catalog_begin(&store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    rc = tamis__catalog_get(txn, name, &record);
    tamis__catalog_end(txn);
    if (rc == TAMIS_ENOTFOUND) return 0;
    return rc < 0 ? rc : tamis__fail_exists(name);
}
