/* SPDX-License-Identifier: BSD-2-Clause */
/* drafts_copy.c: what COPY, which makes another draft, and dumps read of a draft. */
#include <string.h>

#include "value/draft_parts.h"
#include "value/drafts.h"

bool draft_can_be_copied(const struct value *value)
{
    const struct draft *draft = value->draft;
    return draft != NULL && (draft->content.data == NULL || draft->key_count == 0) &&
           drafts_are_made_behind();
}

void draft_begin_copy(struct value *value, const struct value *from)
{
    const struct draft *draft = from->draft;
    if (draft->content.data != NULL) {
        struct draft_stream stream = draft->content;
        stream.data = memcpy(RedisModule_Alloc(stream.bytes), stream.data, stream.bytes);
        draft_begin_content(value, &stream, 0);
        return;
    }
    const struct tamis_sizing sizing = {.file_bytes = from->known.bytes,
                                        .data_bytes = from->known.size_bytes - 32 - 64};
    draft_begin(value, &draft->spec, &sizing);
    if (draft->exact != NULL) draft_be_exact(value, draft->exact->head, draft->exact->head_bytes);
    for (size_t i = 0; i < draft->key_count; i++)
        (void)draft_add(value, draft->keys[i].data, draft->keys[i].bytes);
}

bool draft_can_be_saved(const struct value *value)
{
    const struct draft *draft = value->draft;
    return draft->content.data != NULL ? draft->key_count == 0
                                       : draft->key_count <= draft->key_most;
}

const struct tamis_filter_spec *draft_spec(const struct value *value)
{
    return &value->draft->spec;
}

const struct tamis_key *draft_keys(const struct value *value, size_t *count)
{
    *count = value->draft->key_count;
    return value->draft->keys;
}
