/* SPDX-License-Identifier: BSD-2-Clause */
/* pieces.c: see pieces.h. */
#include "value/pieces.h"

bool pieces_find(const struct value *value, uint64_t position, struct place *place)
{
    struct tamis_segment_stat segment = {.size = sizeof segment};
    for (uint32_t i = 0; tamis_filter_segment(value->filter, i, &segment) == 0; i++) {
        if (position < segment.data_bytes) {
            *place = (struct place){
                .segment = i, .offset = position, .left = segment.data_bytes - position};
            return true;
        }
        position -= segment.data_bytes;
    }
    return false;
}

int64_t pieces_read(const struct value *value, uint64_t position, char **buffer)
{
    struct place place;
    *buffer = NULL;
    if (!pieces_find(value, position, &place)) return 0;
    const size_t bytes = (size_t)(place.left < PIECE_BYTES ? place.left : PIECE_BYTES);
    *buffer = RedisModule_Alloc(bytes);
    const int rc =
        tamis_filter_read_data(value->filter, place.segment, place.offset, *buffer, bytes);
    if (rc == 0) return (int64_t)bytes;
    RedisModule_Free(*buffer);
    *buffer = NULL;
    return rc;
}
