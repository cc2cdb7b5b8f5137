/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spares.c: brings the spares of a record up to date, and takes them back.  A spare is an empty
 * segment that was made ahead of need.
 *
 * A spare is committed to the catalog before anybody needs it.  An adder enters it by one exchange
 * on the `next` of the segment before it.  The catalog does not take part, so its record is behind
 * from then on: it still calls a part of the list a spare.  So whoever reads a record to work on
 * the segments first brings it up to date.
 *
 * A spare belongs to the publication that it was made with.  A process that puts another list or
 * other exceptions in force, or drops the filter, first takes the spares back, by one exchange on
 * the same word.  From then on nobody enters them, and their files can go with the same commit.
 */
#include "txn/spares.h"

#include "segment/live.h"
#include "txn/files.h"

/*
 * Was the spare entered?  The segment before it says so.  If a power cut lost that word, or the
 * file is a copy, the mark of the spare shows that it was written to, and only an entered one is.
 */
static bool is_entered(const struct tamis__place *place, struct tamis__listed_segment *before,
                       const struct tamis__listed_segment *spare)
{
    struct tamis__segment_header header;
    if (tamis__segment_peek(place, before->number, &header) == 0) {
        before->items = tamis__header_items(&header); /* counted when it was left, or later */
        if (header.live.next == spare->number) return true;
    }
    return tamis__segment_peek(place, spare->number, &header) == 0 &&
           (header.live.mark != 0 || tamis__header_items(&header) != 0);
}

void tamis__record_enter_spare(struct tamis__record *record)
{
    record->segment_count++;
    record->spare_count--;
    record->generation = ++record->last_generation;
}

void tamis__record_promote(const struct tamis__place *place, struct tamis__record *record)
{
    bool any = false;
    while (record->spare_count > 0) {
        struct tamis__listed_segment before = record->segments[record->segment_count - 1];
        if (!is_entered(place, &before, &record->segments[record->segment_count])) break;
        record->segments[record->segment_count - 1].items = before.items;
        tamis__record_enter_spare(record);
        any = true;
    }
    if (any) tamis__record_sum_capacity(record);
}

int tamis__store_get(const struct tamis_store *store, struct tamis__catalog_txn *txn,
                     const char *name, struct tamis__record *record)
{
    const int rc = tamis__catalog_get(txn, name, record);
    if (rc == 0) tamis__record_promote(&store->place, record);
    return rc;
}

int tamis__store_get_by_id(const struct tamis_store *store, struct tamis__catalog_txn *txn,
                           uint64_t filter_id, struct tamis__record *record)
{
    const int rc = tamis__catalog_get_by_id(txn, filter_id, record);
    if (rc == 0) tamis__record_promote(&store->place, record);
    return rc;
}

/* Is this the `next` of a segment behind which the list does not go on yet? */
static bool is_end(uint64_t next)
{
    return next == 0 || next == TAMIS__NEXT_REFUSE || tamis__next_spare(next) != 0;
}

/* Cuts the list behind the segment whose `next` names none.  Returns false if a `next` leads
 * elsewhere: its writer died, and the next open for writing mends it. */
static bool cut_list(const struct tamis__place *place, struct tamis__record *record)
{
    for (uint32_t i = 0; i < record->segment_count; i++) {
        struct tamis__segment_header header;
        const uint64_t after = i + 1 < record->segment_count + record->spare_count
                                   ? record->segments[i + 1].number
                                   : 0;
        if (tamis__segment_peek(place, record->segments[i].number, &header) < 0) return false;
        if (is_end(header.live.next)) {
            record->segment_count = i + 1;
            record->spare_count = 0;
        } else if (header.live.next != after) {
            return false;
        }
    }
    return true;
}

static int bring_up(const struct tamis_store *store, struct tamis__record *record)
{
    tamis__record_promote(&store->place, record);
    return cut_list(&store->place, record) ? 0 : TAMIS__PEEK_UNSURE;
}

int tamis__store_peek(const struct tamis_store *store, uint64_t filter_id,
                      struct tamis__record *record, struct tamis__trouble *trouble)
{
    const int rc = tamis__catalog_peek(&store->catalog, filter_id, record, trouble);
    return rc != 0 ? rc : bring_up(store, record);
}

int tamis__store_peek_named(const struct tamis_store *store, const char *name,
                            struct tamis__record *record)
{
    const int rc = tamis__catalog_peek_named(&store->catalog, name, record);
    return rc != 0 ? rc : bring_up(store, record);
}

int tamis__spares_take_back(const struct tamis_store *store, struct tamis__catalog_txn *txn,
                            struct tamis__record *record, struct tamis__numbers *files)
{
    int rc = 0;
    while (record->spare_count > 0) {
        const uint64_t newest = record->segments[record->segment_count - 1].number;
        rc = tamis__segment_take_back(&store->place, newest);
        if (rc < 0) return rc;
        if (rc == 0) break;
        tamis__record_enter_spare(record); /* an adder has entered it meanwhile */
        tamis__record_sum_capacity(record);
    }
    rc = 0;
    for (; rc == 0 && record->spare_count > 0; record->spare_count--)
        rc = tamis__remove_later(
            txn, files, record->segments[record->segment_count + record->spare_count - 1].number);
    return rc;
}
