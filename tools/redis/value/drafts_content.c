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

void draft_begin_content(struct value *value, char *stream, size_t bytes, int64_t created_at)
{
    struct stream_told told;
    const struct tamis_filter_spec none = {.size = sizeof none};
    const struct tamis_sizing sizing = {.data_bytes = 0};
    draft_begin(value, &none, &sizing);
    stream_tell(stream, &told);
    if (created_at != 0) value->created_at = created_at;
    value->kind = told.kind;
    value->exact = told.exact;
    value->expansion = told.refuses ? 0 : 2; /* the dump tells it */
    value->origin = told.origin;
    value->known = (struct known){.segments = 1,
                                  .bytes = told.data_bytes,
                                  .items = told.items == UINT64_MAX ? 0 : told.items,
                                  .size_bytes = 32 + 64 + told.data_bytes};
    value->draft->key_most =
        told.capacity > value->known.items ? told.capacity - value->known.items : 0;
    value->draft->content = stream;
    value->draft->content_bytes = bytes;
}

const void *draft_content(const struct value *value, size_t *bytes)
{
    const struct draft *draft = value->draft;
    if (draft == NULL || draft->content == NULL) return NULL;
    *bytes = draft->content_bytes;
    return draft->content;
}
