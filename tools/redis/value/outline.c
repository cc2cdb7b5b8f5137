/* SPDX-License-Identifier: BSD-2-Clause */
/* outline.c: see outline.h. */
#include "value/outline.h"

#define PIECE ((uint64_t)1 << 20)

int outline_make(const struct value *value, struct memory **memory)
{
    unsigned char head[HEAD_ROOM];
    uint32_t expansion;
    const int64_t bytes = head_of_filter(value->stored->filter, value->exact, 0, head);
    return bytes < 0 ? (int)bytes : memory_make_of_head(head, (size_t)bytes, memory, &expansion);
}

int outline_fill(const struct value *value, struct memory *memory)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < memory->count; i++)
        for (uint64_t at = 0, now; rc == 0 && at < layer_bytes(memory, &memory->layers[i]);
             at += now) {
            now = layer_bytes(memory, &memory->layers[i]) - at;
            if (now > PIECE) now = PIECE;
            rc = tamis_filter_read_data(value->stored->filter, i, at,
                                        (char *)memory->layers[i].bits.data + at, (size_t)now);
        }
    return rc;
}
