/* SPDX-License-Identifier: BSD-2-Clause */
/* homes.c: see homes.h. */
#include "value/homes.h"

#include "value/exact.h"
#include "value/guest.h"

void value_free(void *freed)
{
    struct value *value = freed;
    value_leave(value);
    if (value->home == HOME_MEMORY) memory_release(value->memory);
    if (value->home == HOME_CUCKOO) exact_free(value->cuckoo);
    if (value->home == HOME_VALKEY) guest->free(value->valkey);
    if (value->home == HOME_STORE || value->home == HOME_BROKEN) stored_let_go(value->stored);
    RedisModule_Free(value);
}

uint64_t value_size_bytes(const struct value *value)
{
    switch (value->home) {
    case HOME_MEMORY:
        return memory_size_bytes(value->memory);
    case HOME_CUCKOO:
        return cuckoo_size_bytes(&value->cuckoo->cuckoo);
    case HOME_VALKEY:
        return guest->size_bytes(value->valkey);
    case HOME_STORE:
        return stored_size_bytes(value->stored);
    default:
        return 0;
    }
}

int64_t value_items(const struct value *value)
{
    if (value->home == HOME_MEMORY) return (int64_t)memory_items(value->memory);
    if (value->home == HOME_VALKEY) return guest->items(value->valkey);
    return tamis_filter_items(value->stored->filter);
}

/* ---- Heads and pieces ------------------------------------------------------------------------ */

/* A place in the data of a filter; `left`: 0 past the end. */
struct place {
    uint32_t layer;
    uint64_t offset, left;
};

/* The bytes of layer i; 0: there are fewer. */
static uint64_t bytes_of(const struct value *value, uint32_t i)
{
    const struct memory *memory = value->memory;
    struct tamis_segment_stat segment = {.size = sizeof segment};
    if (value->home == HOME_MEMORY)
        return i < memory->count ? layer_bytes(memory, &memory->layers[i]) : 0;
    return tamis_filter_segment(value->stored->filter, i, &segment) == 0 ? segment.data_bytes : 0;
}

static struct place find(const struct value *value, uint64_t position)
{
    struct place place = {.offset = position};
    uint64_t bytes;
    while ((bytes = bytes_of(value, place.layer)) > 0 && place.offset >= bytes) {
        place.offset -= bytes;
        place.layer++;
    }
    place.left = bytes > 0 ? bytes - place.offset : 0;
    return place;
}

static unsigned char *in_memory(const struct value *value, const struct place *place)
{
    return (unsigned char *)value->memory->layers[place->layer].bits.data + place->offset;
}

int64_t pieces_head(const struct value *value, unsigned char head[HEAD_ROOM])
{
    return value->home == HOME_MEMORY
               ? memory_head(value->memory, value->expansion, head)
               : head_of_filter(value->stored->filter, value->exact, value->expansion, head);
}

int pieces_outline(const struct value *value, struct memory **memory)
{
    unsigned char head[HEAD_ROOM];
    uint32_t expansion;
    const int64_t bytes = pieces_head(value, head);
    return bytes < 0 ? (int)bytes : memory_make_of_head(head, (size_t)bytes, memory, &expansion);
}

uint64_t pieces_left(const struct value *value, uint64_t position)
{
    return find(value, position).left;
}

int64_t pieces_read(const struct value *value, uint64_t position, uint64_t most, const void **piece,
                    char **buffer)
{
    const struct place place = find(value, position);
    const uint64_t bytes = place.left < most ? place.left : most;
    *buffer = NULL;
    if (bytes == 0) return 0;
    if (value->home == HOME_MEMORY) {
        *piece = in_memory(value, &place);
        return (int64_t)bytes;
    }
    *piece = *buffer = RedisModule_Alloc((size_t)bytes);
    const int rc = tamis_filter_read_data(value->stored->filter, place.layer, place.offset, *buffer,
                                          (size_t)bytes);
    if (rc == 0) return (int64_t)bytes;
    RedisModule_Free(*buffer);
    *buffer = NULL;
    return rc;
}

int pieces_write(const struct value *value, uint64_t position, const void *data, size_t bytes)
{
    const struct place place = find(value, position);
    if (place.left < bytes) return TAMIS_EINVAL;
    if (value->home != HOME_MEMORY)
        return tamis_filter_write_data(value->stored->filter, place.layer, place.offset, data,
                                       bytes);
    memory_or(in_memory(value, &place), data, bytes);
    if (value->memory->log != NULL) value->memory->log->dirty = true;
    return 0;
}
