/* SPDX-License-Identifier: BSD-2-Clause */
/* pieces.c: see pieces.h. */
#include "value/pieces.h"

#include "value/memory.h"

/* A place in the data of a filter of the store. */
struct place {
    uint32_t segment;
    uint64_t offset, left;
};

static bool find(const struct value *value, uint64_t position, struct place *place)
{
    struct tamis_segment_stat segment = {.size = sizeof segment};
    for (uint32_t i = 0; tamis_filter_segment(value->stored->filter, i, &segment) == 0; i++) {
        if (position < segment.data_bytes) {
            *place = (struct place){
                .segment = i, .offset = position, .left = segment.data_bytes - position};
            return true;
        }
        position -= segment.data_bytes;
    }
    return false;
}

uint64_t pieces_left(const struct value *value, uint64_t position)
{
    struct place place;
    uint64_t left = 0;
    if (value->home == HOME_MEMORY) {
        (void)memory_at(value->memory, position, &left);
        return left;
    }
    return find(value, position, &place) ? place.left : 0;
}

int64_t pieces_read(const struct value *value, uint64_t position, const void **piece, char **buffer)
{
    struct place place;
    uint64_t left = 0;
    *buffer = NULL;
    if (value->home == HOME_MEMORY) {
        *piece = memory_at(value->memory, position, &left);
        return (int64_t)(left < PIECE_BYTES ? left : PIECE_BYTES);
    }
    if (!find(value, position, &place)) return 0;
    const size_t bytes = (size_t)(place.left < PIECE_BYTES ? place.left : PIECE_BYTES);
    *piece = *buffer = RedisModule_Alloc(bytes);
    const int rc =
        tamis_filter_read_data(value->stored->filter, place.segment, place.offset, *buffer, bytes);
    if (rc == 0) return (int64_t)bytes;
    RedisModule_Free(*buffer);
    *buffer = NULL;
    return rc;
}

int pieces_write(const struct value *value, uint64_t position, const void *data, size_t bytes)
{
    struct place place;
    uint64_t left = 0;
    if (value->home == HOME_MEMORY) {
        memory_or(memory_at(value->memory, position, &left), data, bytes);
        if (value->memory->log != NULL) value->memory->log->dirty = true;
        return 0;
    }
    if (!find(value, position, &place)) return TAMIS_EINVAL;
    return tamis_filter_write_data(value->stored->filter, place.segment, place.offset, data, bytes);
}
