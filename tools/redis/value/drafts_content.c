/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drafts_content.c: drafts (drafts.h) of what a dump, a full sync or the preamble of an AOF has
 * brought: a whole stream of a small filter.  Nobody asks such a draft, or adds to it: who wants
 * to brings it into the store.  Only commands of an AOF add to one that is held.
 */
#include <string.h>

#include "value/draft_parts.h"
#include "value/drafts.h"
#include "value/head.h"

/* What a stream tells of its filter, in either format. */
static void tell(struct value *value, const struct draft_stream *stream, struct stream_told *told)
{
    if (!stream->is_redisbloom) {
        stream_tell(stream->data, told);
        value->origin = told->origin;
        return;
    }
    struct bloom_layer layer = {.capacity = 0};
    const unsigned char *head = (const unsigned char *)stream->data + HEAD_FRAME_BYTES;
    bloom_head_layer(head, &layer);
    *told = (struct stream_told){.capacity = layer.capacity,
                                 .items = layer.items,
                                 .data_bytes = layer.bytes,
                                 .kind = TAMIS_KIND_BLOOM,
                                 .exact = true};
}

void draft_begin_content(struct value *value, const struct draft_stream *stream, int64_t created_at)
{
    struct stream_told told;
    const struct tamis_filter_spec none = {.size = sizeof none};
    const struct tamis_sizing sizing = {.data_bytes = 0};
    draft_begin(value, &none, &sizing);
    tell(value, stream, &told);
    if (created_at != 0) value->created_at = created_at;
    value->kind = told.kind;
    value->exact = told.exact;
    value->known = (struct known){.segments = 1,
                                  .bytes = told.data_bytes,
                                  .items = told.items == UINT64_MAX ? 0 : told.items,
                                  .size_bytes = 32 + 64 + told.data_bytes};
    struct draft *draft = value->draft;
    draft->key_most = told.capacity > value->known.items ? told.capacity - value->known.items : 0;
    draft->content = *stream;
    draft_count_bytes(draft, draft_bytes(draft));
}

const struct draft_stream *draft_content(const struct value *value)
{
    const struct draft *draft = value->draft;
    return draft == NULL || draft->content.data == NULL ? NULL : &draft->content;
}
