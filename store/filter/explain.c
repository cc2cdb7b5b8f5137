/* SPDX-License-Identifier: BSD-2-Clause */
/* explain.c: looking inside an open filter: its metadata, its segments, its bits, a key's
 * positions. */
#include <math.h>

#include "base/arguments.h"
#include "base/error.h"
#include "hash/hash_set.h"
#include "txn/policy.h"
#include "txn/spares.h"
#include "txn/store.h"

/* More hashes than any system uses; keeps a slip of the finger from running for hours. */
#define EXPLAIN_K_MAX ((uint32_t)1 << 20)

TAMIS_API int64_t tamis_filter_items(tamis_filter *filter)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    struct tamis__view *view;
    int rc = tamis__visit(filter, &view);
    if (rc == TAMIS_EDROPPED) { /* the mapping is still there */
        view = tamis__enter(&filter->view);
        rc = view ? 0 : TAMIS_ENOMEM;
    }
    if (rc < 0) return rc;
    const int64_t now = tamis__clock_ns();
    uint64_t items = 0;
    for (uint32_t i = 0; i < view->count; i++) {
        const struct tamis__segment *s = &view->segments[i].segment;
        if (!tamis__policy_is_past(&view->policy, s->header->slice_start, now))
            items += tamis__segment_items(s);
    }
    return tamis__leave_with(filter, view, (int64_t)items);
}

TAMIS_API int tamis_filter_stat(tamis_filter *filter, struct tamis_filter_stat *stat)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    struct tamis__view *view;
    struct tamis__trouble trouble, known = {0};
    struct tamis_filter_stat own;
    int rc = tamis__check_struct(stat, "struct tamis_filter_stat");
    if (rc == 0) rc = tamis__catalog_begin(&filter->store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    rc = tamis__store_get_by_id(filter->store, txn, filter->filter_id, &record);
    if (rc == 0) rc = tamis__catalog_get_trouble(txn, filter->filter_id, &known);
    tamis__catalog_end(txn);
    if (rc == TAMIS_ENOTFOUND) return tamis__fail_dropped(filter);
    if (rc == 0) rc = tamis__visit(filter, &view);
    if (rc < 0) return rc;
    (void)tamis__view_count_record(view, &record); /* the others are counted in the catalog */
    for (uint32_t i = 0; i < record.segment_count; i++) {
        const struct tamis__store_segment *s = tamis__view_find(view, record.segments[i].number);
        if (s != NULL) record.segments[i].file_bytes = tamis__header_file_bytes(s->segment.header);
    }
    trouble = tamis__view_trouble(view);
    trouble.damaged_since = known.damaged_since;
    rc = (int)tamis__leave_with(filter, view, 0);
    if (rc < 0) return rc;
    tamis__stat_from_record(&record, &own);
    tamis__stat_set_trouble(&own, trouble);
    tamis__give_struct(&own, sizeof own, stat);
    return 0;
}

int tamis__visit_segment(struct tamis_filter *filter, uint32_t index, struct tamis__view **view)
{
    const int rc = tamis__visit(filter, view);
    if (rc < 0 || index < (*view)->count) return rc;
    const uint32_t count = (*view)->count;
    tamis__leave(filter, *view);
    return tamis__fail(TAMIS_EINVAL, "there is no segment %u; the filter has %u", index, count);
}

static void stat_segment(const struct tamis__view *view, uint32_t index,
                         struct tamis_segment_stat *stat)
{
    const struct tamis__segment *segment = &view->segments[index].segment;
    const struct tamis__segment_header *h = segment->header;
    const bool past = tamis__policy_is_past(&view->policy, h->slice_start, tamis__clock_ns());
    *stat = (struct tamis_segment_stat){
        .size = sizeof *stat,
        .number = h->number,
        .kind = h->kind,
        .k = h->k,
        .words = h->words,
        .bit_order = h->bit_order,
        .m_bits = h->m_bits,
        .seed = h->seed,
        .capacity = h->capacity,
        .fp_rate = tamis__double_from_bits(h->fp_rate),
        .items = tamis__segment_items(segment),
        .file_bytes = tamis__header_file_bytes(h),
        .data_offset = h->data_offset,
        .data_bytes = h->data_bytes,
        .created_at = h->created_at,
        .flags = (h->flags & TAMIS__SEGMENT_FLAGS_KNOWN) | (past ? TAMIS_SEGMENT_PAST : 0),
        .slice = h->slice,
        .slice_start = h->slice_start,
        .step = h->step,
        .counter_bits = h->counter_bits,
        .fingerprint_bits = h->fingerprint_bits,
        .pieces = h->pieces,
    };
    tamis__hash_set_name(h->hash_set, h->parameters, stat->hash_set);
}

static void measure(const struct tamis__store_segment *s, struct tamis_segment_stat *stat)
{
    s->kind->measure(&s->segment, &stat->ones, &stat->fp_rate_now);
    /* Of a static segment the fingerprints are counted, and its keys are known. */
    const uint64_t places = stat->m_bits / (stat->fingerprint_bits ? stat->fingerprint_bits : 1);
    stat->fill = (double)stat->ones / (double)places;
    stat->items_estimated = stat->fingerprint_bits
                                ? stat->items
                                : (uint64_t)llround(tamis__estimate_items(stat->kind, stat->m_bits,
                                                                          stat->k, stat->ones));
}

static int tell_segment(struct tamis_filter *filter, uint32_t index, bool measured,
                        struct tamis_segment_stat *stat)
{
    struct tamis_segment_stat own;
    struct tamis__view *view;
    int rc = tamis__check_struct(stat, "struct tamis_segment_stat");
    if (rc == 0) rc = tamis__visit_segment(filter, index, &view);
    if (rc < 0) return rc;
    stat_segment(view, index, &own);
    if (measured) measure(&view->segments[index], &own);
    rc = (int)tamis__leave_with(filter, view, 0);
    if (rc == 0) tamis__give_struct(&own, sizeof own, stat);
    return rc;
}

TAMIS_API int tamis_filter_segment(tamis_filter *filter, uint32_t index,
                                   struct tamis_segment_stat *stat)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    return tell_segment(filter, index, false, stat);
}

TAMIS_API int tamis_filter_fill(tamis_filter *filter, uint32_t index,
                                struct tamis_segment_stat *stat)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    return tell_segment(filter, index, true, stat);
}

static int check_room(uint32_t k, const void *key, size_t key_bytes,
                      struct tamis_explanation *explanation)
{
    explanation->positions_count = k;
    if (key == NULL && key_bytes > 0)
        return tamis__fail(TAMIS_EINVAL, "the key is NULL with a length above 0; pass its bytes");
    if (explanation->hashes == NULL && explanation->hashes_bytes > 0)
        return tamis__fail_null("tamis_explain", "explanation->hashes");
    if (explanation->positions == NULL && explanation->positions_max > 0)
        return tamis__fail_null("tamis_explain", "explanation->positions");
    if (explanation->positions_max < k)
        return tamis__fail(TAMIS_EINVAL, "%u %s not fit in room for %zu", k,
                           k == 1 ? "position does" : "positions do", explanation->positions_max);
    return 0;
}

static int check_text(const struct tamis_explanation *explanation, size_t wanted)
{
    if (wanted < explanation->hashes_bytes) return 0;
    return tamis__fail(TAMIS_EINVAL, "the hash values need %zu byte%s of text, not %zu", wanted + 1,
                       tamis__plural(wanted + 1), explanation->hashes_bytes);
}

/* Describe the key by its hash set; the positions are the caller's. */
static int describe(const struct tamis__hashing *hashing, const void *key, size_t key_bytes,
                    struct tamis_explanation *explanation)
{
    const int rc = check_room(hashing->k, key, key_bytes, explanation);
    if (rc < 0) return rc;
    return check_text(explanation,
                      hashing->set->describe(hashing, key, key_bytes, explanation->hashes,
                                             explanation->hashes_bytes));
}

static int explain(const struct tamis__store_segment *s, const void *key, size_t key_bytes,
                   struct tamis_explanation *explanation)
{
    const struct tamis__segment_header *h = s->segment.header;
    if (s->kind->explain != NULL) {
        const int rc = check_room(h->k, key, key_bytes, explanation);
        if (rc < 0) return rc;
        return check_text(explanation,
                          s->kind->explain(&s->segment, key, key_bytes, explanation->positions,
                                           explanation->hashes, explanation->hashes_bytes));
    }
    const struct tamis__hashing hashing = tamis__header_hashing(h);
    const int rc = describe(&hashing, key, key_bytes, explanation);
    if (rc == 0) s->kind->positions(h, key, key_bytes, explanation->positions);
    return rc;
}

TAMIS_API int tamis_filter_explain(tamis_filter *filter, uint32_t index, const void *key,
                                   size_t key_bytes, struct tamis_explanation *explanation)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    struct tamis_explanation own;
    struct tamis__view *view;
    int rc = tamis__take_struct(explanation, &own, sizeof own, "struct tamis_explanation");
    if (rc == 0) rc = tamis__visit_segment(filter, index, &view);
    if (rc < 0) return rc;
    const struct tamis__store_segment *s = &view->segments[index];
    rc = explain(s, key, key_bytes, &own);
    tamis__give_struct(&own, sizeof own, explanation);
    return (int)tamis__leave_with(filter, view, rc);
}

static int explain_set(const char *hash_set, uint64_t m_bits, uint32_t k, uint64_t seed,
                       const struct tamis_key *key, struct tamis_explanation *explanation)
{
    uint8_t parameters[TAMIS__HASH_PARAMETER_BYTES];
    struct tamis__hashing hashing = {
        .parameters = parameters, .seed = seed, .m_bits = m_bits, .k = k};
    int rc = tamis__hash_set_parse(hash_set ? hash_set : "xxh3", &hashing.set, parameters);
    if (rc < 0) return rc;
    if (hashing.set->keyed)
        return tamis__fail(TAMIS_EINVAL,
                           "hash set %s has a secret key in each filter; ask a filter of that set",
                           hashing.set->name);
    if (m_bits == 0)
        return tamis__fail(TAMIS_EINVAL, "m of 0 bits is out of range; give 1 to 2^64-1");
    rc = tamis__hashing_check(&hashing);
    if (rc < 0) return rc;
    if (hashing.k == 0 || hashing.k > EXPLAIN_K_MAX)
        return tamis__fail(TAMIS_EINVAL, "k of %u hashes is out of range; give 1 to %u", hashing.k,
                           EXPLAIN_K_MAX);
    rc = describe(&hashing, key->data, key->bytes, explanation);
    if (rc == 0) hashing.set->positions(&hashing, key->data, key->bytes, explanation->positions);
    return rc;
}

TAMIS_API int tamis_explain(const char *hash_set, uint64_t m_bits, uint32_t k, uint64_t seed,
                            const void *key, size_t key_bytes,
                            struct tamis_explanation *explanation)
{
    struct tamis_explanation own;
    int rc = tamis__take_struct(explanation, &own, sizeof own, "struct tamis_explanation");
    if (rc < 0) return rc;
    rc = explain_set(hash_set, m_bits, k, seed, &(struct tamis_key){key, key_bytes}, &own);
    tamis__give_struct(&own, sizeof own, explanation);
    return rc;
}
