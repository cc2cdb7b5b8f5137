/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rdb_layers.c: exact filters as RedisBloom's dumps have them.
 *
 *     encoding versions 0 to 5 (encver)   U items, U layers, U options, U growth; for each layer
 *         U capacity, D rate, U hashes, D bits per entry, U bits, U n2, S data, U items; in version
 *         5 U seed
 */
#include <inttypes.h>

#include "persist/rdb.h"
#include "value/memory.h"

void rdb_save_layers(RedisModuleIO *rdb, const struct memory *memory)
{
    RedisModule_SaveUnsigned(rdb, memory_items(memory));
    RedisModule_SaveUnsigned(rdb, memory->count);
    RedisModule_SaveUnsigned(rdb, memory->options);
    RedisModule_SaveUnsigned(rdb, memory->growth);
    for (uint32_t i = 0; i < memory->count; i++) {
        const struct layer *l = &memory->layers[i];
        RedisModule_SaveUnsigned(rdb, l->bits.capacity);
        RedisModule_SaveDouble(rdb, l->bits.fp_rate);
        RedisModule_SaveUnsigned(rdb, l->bits.k);
        RedisModule_SaveDouble(rdb, l->bits_per_entry);
        RedisModule_SaveUnsigned(rdb, l->bits.m_bits);
        RedisModule_SaveUnsigned(rdb, l->bits.reserved);
        RedisModule_SaveStringBuffer(rdb, l->bits.data, layer_bytes(memory, l));
        RedisModule_SaveUnsigned(rdb, l->bits.items);
    }
}

struct loaded {
    unsigned char head[HEAD_ROOM];
    size_t head_bytes;
    uint32_t count;
    char *data[LAYERS_MAX];
    size_t bytes[LAYERS_MAX];
};

static bool load_layer(RedisModuleIO *rdb, int encver, struct loaded *to)
{
    struct bloom_layer layer = {.capacity = RedisModule_LoadUnsigned(rdb)};
    layer.rate = RedisModule_LoadDouble(rdb);
    layer.hashes = (uint32_t)RedisModule_LoadUnsigned(rdb);
    layer.bits_per_entry = RedisModule_LoadDouble(rdb);
    if (encver >= 1) {
        layer.bits = RedisModule_LoadUnsigned(rdb);
        layer.n2 = (uint8_t)RedisModule_LoadUnsigned(rdb);
    }
    const uint32_t i = to->count;
    to->data[i] = RedisModule_LoadStringBuffer(rdb, &to->bytes[i]);
    layer.items = RedisModule_LoadUnsigned(rdb);
    if (RedisModule_IsIOError(rdb) || to->data[i] == NULL) return false;
    to->count++;
    layer.bytes = to->bytes[i];
    if (encver < 1) layer.bits = layer.bytes * 8;
    to->head_bytes = bloom_head_add(to->head, to->head_bytes, &layer);
    return true;
}

static bool load_all(RedisModuleIO *rdb, int encver, uint64_t count, struct loaded *to)
{
    const uint64_t options = encver >= 2 ? RedisModule_LoadUnsigned(rdb) : 0;
    const uint64_t growth = encver >= 4 ? RedisModule_LoadUnsigned(rdb) : 2;
    if (RedisModule_IsIOError(rdb)) return false;
    if (count > LAYERS_MAX) {
        RedisModule_LogIOError(rdb, "warning",
                               "the filter has %" PRIu64 " layers, and here one has at most %u; "
                               "make it anew there for more keys",
                               count, LAYERS_MAX);
        return false;
    }
    to->head_bytes = bloom_head_begin((uint32_t)options, (uint32_t)growth, to->head);
    for (uint64_t i = 0; i < count; i++)
        if (!load_layer(rdb, encver, to)) return false;
    return rdb_load_seed(rdb, encver, BLOOM_SEED);
}

struct value *rdb_load_layers(RedisModuleIO *rdb, int encver, uint64_t count)
{
    struct loaded *loaded = RedisModule_Calloc(1, sizeof *loaded);
    struct memory *memory = NULL;
    struct value *value = NULL;
    uint32_t expansion;
    if (load_all(rdb, encver, count, loaded) &&
        memory_make_of_head(loaded->head, loaded->head_bytes, &memory, &expansion) == 0) {
        for (uint32_t i = 0; i < memory->count; i++)
            memcpy(memory->layers[i].bits.data, loaded->data[i], loaded->bytes[i]);
        value = value_new(TYPE_BLOOM);
        value->as_valkey = false;
        value->exact = true;
        value->expansion = expansion;
        value_settle(value, HOME_MEMORY, memory);
    } else {
        RedisModule_LogIOError(rdb, "warning",
                               "the dump of a filter of RedisBloom is damaged, or "
                               "of a sort that is not known here");
    }
    for (uint32_t i = 0; i < LAYERS_MAX; i++) /* count may be one too low, after an error */
        RedisModule_Free(loaded->data[i]);
    RedisModule_Free(loaded);
    return value;
}
