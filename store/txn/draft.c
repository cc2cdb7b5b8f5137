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
 * leaves in staging/ is swept by the next maker (segment.h), what it leaves in segments/ by the
 * next writer.
 */
#include "txn/draft.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "txn/store.h"
#include "txn/write.h"

void tamis__draft_init(const struct tamis_store *store, const char *name,
                       const struct tamis__record_segment *segment, struct tamis__draft *draft)
{
    struct tamis__layout layout;
    struct tamis__segment_header *header = &draft->header;
    if (segment->kind == TAMIS_KIND_FUSE)
        tamis__static_layout(segment->m_bits + tamis__fuse_seeds_bytes(segment->pieces) * 8,
                             &layout);
    else
        tamis__layout(tamis__data_bits(segment->m_bits, segment->counter_bits), &layout);
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
    header->slice = segment->slice;
    header->slice_start = segment->slice_start;
    header->step = segment->step;
    header->counter_bits = segment->counter_bits;
    header->fingerprint_bits = segment->fingerprint_bits;
    header->pieces = segment->pieces;
    tamis__header_set_items(header, segment->items);
    tamis__label_write(&header->labels[0], 1, name);
}

void tamis__draft_init_fuse(const struct tamis_store *store, const char *name,
                            const struct tamis__record_segment *segment,
                            const struct tamis__fuse_shape *shape, struct tamis__draft *draft)
{
    struct tamis__record_segment s = *segment;
    s.kind = TAMIS_KIND_FUSE;
    s.m_bits = tamis__fuse_m_bits(shape);
    s.k = TAMIS__FUSE_ARITY;
    s.words = 0;
    s.bit_order = TAMIS__BITS_LSB_FIRST;
    s.counter_bits = 0;
    s.fingerprint_bits = shape->fingerprint_bits;
    s.pieces = shape->pieces;
    tamis__draft_init(store, name, &s, draft);
    draft->header.piece_segments = shape->piece_segments;
    draft->header.segment_slots = shape->segment_slots;
}

void tamis__draft_set_policy(struct tamis__draft *draft, const struct tamis__policy *policy)
{
    draft->header.filter_capacity = policy->capacity;
    draft->header.filter_rate = tamis__double_to_bits(policy->fp_rate);
    draft->header.on_full = policy->on_full;
    draft->header.slices = policy->slices;
    draft->header.window_ns = policy->window_ns;
    draft->header.window_items = policy->window_items;
    draft->header.durable = policy->durable;
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
 * The next segment number that is free.  A file that has it already is an orphan of a maker that
 * died before its commit, and is removed if nothing was ever added to it.  Otherwise this catalog
 * is older than its segments (restored from a copy): the file is left alone, and ids go on above
 * its own.
 */
int tamis__take_segment_number(struct tamis_store *store, struct tamis__store_record *counters,
                               uint64_t *number)
{
    for (;;) {
        uint64_t filter_id = 0;
        *number = counters->next_segment++;
        const int rc = tamis__segment_vacate(&store->place, *number, &filter_id);
        if (rc != 0) return rc < 0 ? rc : 0;
        if (filter_id >= counters->next_filter_id) counters->next_filter_id = filter_id + 1;
        if (counters->passed == 0) counters->passed = *number; /* repair must not remove it */
    }
}

/*
 * Numbers for all.  Segments with contents are noted as garbage too, in a commit of its own under
 * the same lock: until the last commit takes them off that list their files belong to nobody, and
 * the next writer removes what a maker that died has left of them.
 */
static int reserve(struct tamis_store *store, struct tamis__catalog_txn *txn,
                   const struct tamis__entry *entry)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < entry->count; i++) {
        uint64_t *number = &entry->drafts[i].header.number;
        rc = tamis__take_segment_number(store, tamis__catalog_store(txn), number);
        if (rc == 0 && entry->filled) rc = tamis__catalog_put_garbage(txn, *number);
    }
    return rc == 0 && entry->filled ? tamis__catalog_commit_part(txn) : rc;
}

static int claim(struct tamis__catalog_txn *txn, const struct tamis__entry *entry)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && entry->filled && i < entry->count; i++)
        rc = tamis__catalog_forget_garbage(txn, entry->drafts[i].header.number);
    return rc;
}

/* Under the lock: names.  *published counts the segments that have theirs. */
static int publish(struct tamis_store *store, const struct tamis__entry *entry,
                   struct tamis__record *record, uint32_t *published)
{
    for (uint32_t i = 0; i < entry->count; i++) {
        struct tamis__segment_header *header = &entry->drafts[i].header;
        header->filter_id = record->filter_id;
        header->publication = record->publication;
        header->list_start = i == 0;
        header->keep = record->keep;
        if (i + 1 == entry->count) header->in_force = record->publication;
        tamis__draft_set_policy(&entry->drafts[i], &entry->policy);
        if (i + 1 < entry->count) header->next = entry->drafts[i + 1].header.number;
        const int rc = tamis__segment_publish(&store->place, &entry->drafts[i].staged, header);
        if (rc < 0) return rc;
        tamis__record_segment_from_header(header, &record->segments[i]);
        record->segments[i].items = tamis__header_items(header);
        *published = i + 1;
    }
    return 0;
}

/* Under the lock: publish, record, open if a handle is wanted, commit. */
static int enter(struct tamis_store *store, struct tamis__catalog_txn *txn,
                 const struct tamis__entry *entry)
{
    struct tamis__store_record *counters = tamis__catalog_store(txn);
    struct tamis__record record;
    bool is_open = false;
    uint32_t published = 0;
    int rc = tamis__catalog_get(txn, entry->name, &record);
    if (rc == 0) return tamis__fail_exists(entry->name);
    if (rc != TAMIS_ENOTFOUND) return rc;
    record = (struct tamis__record){.name_sequence = 1,
                                    .generation = 1,
                                    .last_generation = 1,
                                    .publication = 1,
                                    .keep = TAMIS_KEEP_DEFAULT,
                                    .capacity = entry->capacity,
                                    .fp_rate = entry->fp_rate,
                                    .created_at = tamis__now_ns(),
                                    .published_at = tamis__now_ns(),
                                    .policy = entry->policy,
                                    .segment_count = entry->count};
    (void)snprintf(record.name, sizeof record.name, "%s", entry->name);
    rc = reserve(store, txn, entry);
    record.filter_id = counters->next_filter_id++; /* above those of files that were in the way */
    if (rc == 0) rc = publish(store, entry, &record, &published);
    if (rc == 0) rc = claim(txn, entry);
    if (rc == 0) rc = tamis__catalog_put(txn, &record);
    if (rc == 0 && entry->opened != NULL) {
        rc = entry->opened(entry->context, store, &record);
        is_open = rc == 0;
    }
    if (rc == 0) rc = tamis__catalog_commit(txn);
    if (rc < 0) {
        if (is_open) (void)entry->opened(entry->context, store, NULL);
        for (uint32_t i = 0; i < published; i++)
            (void)tamis__segment_remove(&store->place, record.segments[i].number);
    }
    return rc;
}

int tamis__drafts_enter(struct tamis_store *store, const struct tamis__entry *entry)
{
    struct tamis__catalog_txn *txn;
    int rc = tamis__store_begin_write(store, &txn);
    if (rc == 0) {
        rc = enter(store, txn, entry);
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
