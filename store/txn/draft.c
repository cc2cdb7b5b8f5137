/* SPDX-License-Identifier: BSD-2-Clause */
/* draft.c: see draft.h. */
#include "txn/draft.h"

#include "txn/store.h"

void tamis__draft_init(const struct tamis_store *store, const char *name,
                       const struct tamis__listed_segment *segment, struct tamis__draft *draft)
{
    struct tamis__layout layout;
    struct tamis__segment_header *header = &draft->header;
    if (tamis_kind_has(segment->kind, TAMIS_KIND_IS_STATIC))
        tamis__static_layout(segment->m_bits +
                                 tamis__fuse_other_bits(segment->pieces, segment->fingerprint_bits),
                             &layout);
    else
        tamis__layout(tamis__data_bits(segment->m_bits, segment->counter_bits), &layout);
    memset(draft, 0, sizeof *draft);
    memcpy(header->magic, TAMIS__SEGMENT_MAGIC, sizeof header->magic);
    header->format_version = TAMIS__FORMAT_VERSION;
    header->compat_flags = TAMIS__COMPAT_ROOM;
    tamis__header_set_layout(header, &layout);
    header->store_id = store != NULL ? store->store_id : 0;
    header->kind = segment->kind;
    header->hash_set = segment->hash_set;
    memcpy(header->parameters, segment->parameters, sizeof header->parameters);
    header->seed = segment->seed;
    header->m_bits = segment->m_bits;
    header->k = segment->k;
    header->words = segment->words;
    header->capacity = segment->capacity;
    header->fp_rate = tamis__double_to_bits(segment->fp_rate);
    header->created_at = segment->created_at ? segment->created_at : tamis__now_ns();
    header->bit_order = segment->bit_order;
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
                            const struct tamis__listed_segment *segment,
                            const struct tamis__fuse_shape *shape, struct tamis__draft *draft)
{
    struct tamis__listed_segment s = *segment;
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
    if (tamis__fuse_is_packed(shape->fingerprint_bits))
        draft->header.incompat_flags |= TAMIS__INCOMPAT_PACKED;
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
    draft->header.window_from = policy->window_from;
    tamis__header_set_key_rule(&draft->header, policy->key_rule);
}

/* What the file is called while it has no name: by its filter, which the user knows. */
#define WHAT_BYTES (TAMIS__QUOTED_BYTES + 32)
static const char *what_of(const struct tamis__draft *draft, char what[WHAT_BYTES])
{
    char quoted[TAMIS__QUOTED_BYTES];
    (void)snprintf(what, WHAT_BYTES, "a segment of the filter %s",
                   tamis__quote(quoted, draft->header.labels[0].name));
    return what;
}

int tamis__draft_stage(struct tamis_store *store, struct tamis__draft *draft)
{
    char what[WHAT_BYTES];
    return tamis__segment_stage(&store->place, draft->header.file_bytes, what_of(draft, what),
                                &draft->staged);
}

int tamis__draft_stage_more(struct tamis_store *store, struct tamis__draft *draft)
{
    char what[WHAT_BYTES];
    return tamis__segment_stage_more(&store->place, draft->header.file_bytes, what_of(draft, what),
                                     &draft->staged);
}

void tamis__drafts_discard(struct tamis_store *store, struct tamis__draft *drafts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        tamis__segment_discard(&store->place, &drafts[i].staged);
}
