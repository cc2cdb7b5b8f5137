/* SPDX-License-Identifier: BSD-2-Clause */
/* exceptions.c: see exceptions.h. */
#include "txn/exceptions.h"
#include "exceptions/index.h"
#include "segment/broken.h"

int tamis__exceptions_stage(struct tamis_store *store, const struct tamis__exceptions *set,
                            const char *name, struct tamis__draft *draft)
{
    const uint64_t count = set->count;
    const struct tamis__policy policy = {.capacity = count ? count : 1, .fp_rate = 1};
    const struct tamis__listed_segment described = {.kind = TAMIS__KIND_EXCEPTIONS,
                                                    .hash_set = TAMIS__HASH_XXH3,
                                                    .m_bits = 8 * tamis__index_bytes(set),
                                                    .k = 1,
                                                    .capacity = policy.capacity,
                                                    .fp_rate = policy.fp_rate,
                                                    .items = count};
    struct tamis__segment index;
    tamis__draft_init(store, name, &described, draft);
    tamis__draft_set_policy(draft, &policy);
    int rc = tamis__draft_stage(store, draft);
    if (rc < 0) return rc;
    rc = tamis__segment_map_staged(&store->place, &draft->staged, &draft->header, &index);
    if (rc == 0) {
        tamis__index_encode(set, index.data);
        draft->header.data_checksum = tamis__checksum(index.data, (size_t)draft->header.data_bytes);
        rc = tamis__segment_check(&index);
        tamis__segment_close(&index);
        if (rc == 0) rc = tamis__segment_sync_staged(&store->place, &draft->staged, &draft->header);
    }
    if (rc < 0) tamis__drafts_discard(store, draft, 1);
    return rc;
}

int tamis__open_index(struct tamis_store *store, uint64_t number, uint64_t filter_id,
                      struct tamis__mapped_segment *out)
{
    const char *reason = NULL;
    char what[TAMIS__SEGMENT_PATH_BYTES];
    int rc = tamis__segment_open(&store->place, number, false, &out->segment);
    if (rc < 0) return rc;
    (void)tamis__segment_path(&store->place, number, what);
    out->kind = &tamis__kind_exceptions;
    rc = tamis__index_check(&out->segment, &reason);
    if (rc < 0) rc = tamis__fail_at(rc, what, "%s %s" TAMIS__INDEX_MEND, what, reason);
    return tamis__adopt_segment(store, filter_id, rc, out);
}

int tamis__exceptions_open(struct tamis_store *store, const struct tamis__record *record,
                           struct tamis__exceptions_source *source)
{
    source->open = false;
    if (record->exceptions == 0) return 0;
    const int rc = tamis__open_index(store, record->exceptions, record->filter_id, &source->index);
    source->open = rc == 0;
    return rc;
}

void tamis__exceptions_leave(struct tamis__exceptions_source *source)
{
    if (source->open) tamis__close_segment(&source->index);
    source->open = false;
}

int tamis__exceptions_read(struct tamis_store *store, struct tamis__exceptions_source *source,
                           struct tamis__exceptions *set)
{
    char what[TAMIS__SEGMENT_PATH_BYTES];
    if (!source->open) return 0;
    const struct tamis__segment *index = &source->index.segment;
    (void)tamis__segment_path(&store->place, index->header->number, what);
    /* A set that is made from the index gets a new checksum, which must not cover up damage. */
    int rc = tamis__index_sum_is_right(index) ? tamis__exceptions_from_index(set, index)
                                              : TAMIS_ECORRUPT;
    if (rc == TAMIS_ECORRUPT)
        rc = tamis__fail_at(rc, what, "%s has damaged exceptions" TAMIS__INDEX_MEND, what);
    const int whole = tamis__segment_check(index);
    tamis__exceptions_leave(source);
    return whole < 0 ? whole : rc;
}
