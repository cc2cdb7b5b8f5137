/* SPDX-License-Identifier: BSD-2-Clause */
/* outline.c: see outline.h. */
#include "value/outline.h"

#include "server/zeros.h"

#define PIECE ((uint64_t)1 << 20)

/* The number of hash set xxh3, which no public header tells. */
static uint32_t usual_hash_set(void)
{
    struct tamis_memory_filter any;
    const struct tamis_filter_spec spec = {.size = sizeof spec, .capacity = 1};
    return tamis_memory_filter_init(&any, &spec, 0) == 1 ? any.hash_set : 0;
}

static bool take_segment(const struct tamis_segment_stat *s, uint32_t hash_set, struct layer *layer)
{
    *layer = (struct layer){.bits = {.size = sizeof layer->bits,
                                     .data_bytes = s->data_bytes,
                                     .m_bits = s->m_bits,
                                     .seed = s->seed,
                                     .capacity = s->capacity,
                                     .items = s->items,
                                     .fp_rate = s->fp_rate,
                                     .kind = s->kind,
                                     .k = s->k,
                                     .words = s->words,
                                     .hash_set = hash_set,
                                     .step = s->step}};
    layer->bits.data = zeros(s->data_bytes);
    return layer->bits.data != NULL && tamis_memory_filter_check(&layer->bits) == 0;
}

/* Of a filter that is not exact. */
static int make_of_segments(const struct stored *stored, struct memory **made)
{
    struct tamis_segment_stat segment = {.size = sizeof segment};
    struct memory *memory = RedisModule_Calloc(1, sizeof *memory);
    const uint32_t hash_set = usual_hash_set();
    memory->references = 1;
    memory->refuses = stored->known.on_full == TAMIS_ON_FULL_REFUSE;
    memory->rate = stored->known.rate;
    for (; tamis_filter_segment(stored->filter, memory->count, &segment) == 0; memory->count++) {
        memory->layers =
            RedisModule_Realloc(memory->layers, (memory->count + 1) * sizeof *memory->layers);
        if (memory->count == 0) memory->capacity = segment.capacity;
        if (take_segment(&segment, hash_set, &memory->layers[memory->count])) continue;
        memory->count++;
        memory_release(memory);
        return TAMIS_ENOMEM;
    }
    if (memory->count == 0) {
        memory_release(memory);
        return TAMIS_EIO;
    }
    *made = memory;
    return 0;
}

int outline_make(const struct value *value, struct memory **memory)
{
    unsigned char head[HEAD_ROOM];
    uint32_t expansion;
    if (!value->exact) return make_of_segments(value->stored, memory);
    const int64_t bytes = head_of_filter(value->stored->filter, true, 0, head);
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
