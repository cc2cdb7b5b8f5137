/* SPDX-License-Identifier: BSD-2-Clause */
/* types.c: see types.h. */
#include "persist/types.h"

#include "kept/kept.h"
#include "persist/aof.h"
#include "persist/copy.h"
#include "persist/rdb.h"
#include "registry/registry.h"
#include "value/durable.h"
#include "value/exact.h"
#include "value/handles.h"
#include "value/valkey.h"

/* RedisBloom's types have encoding version 4; what we write has one that it refuses. */
#define ENCODING_VERSION 256
/* That of valkey-bloom, which so reads what we write of its filters: rdb_valkey.c. */
#define VALKEY_ENCODING_VERSION 1

static const struct {
    const char *name;
    int encoding_version;
    void *(*load)(RedisModuleIO *rdb, int encver);
    RedisModuleType **type;
} kinds[] = {{"MBbloom--", ENCODING_VERSION, rdb_load_bloom, &value_types[TYPE_BLOOM]},
             {"MBbloomCF", ENCODING_VERSION, rdb_load_cuckoo, &value_types[TYPE_CUCKOO]},
             {"bloomfltr", VALKEY_ENCODING_VERSION, rdb_load_valkey, &value_type_of_valkey}};

/* What BF.INFO and CF.INFO call the size, as RedisBloom has it; most of it is a file. */
static size_t mem_usage(const void *value)
{
    struct value *v = (struct value *)(uintptr_t)value;
    if (v->type == TYPE_CUCKOO) return cuckoo_size_bytes(&v->cuckoo);
    if (v->known.size_bytes == 0) (void)value_open(v); /* it was not open since the start */
    return value_size_bytes(v);
}

static void digest_slots(RedisModuleDigest *to, const struct value *value)
{
    RedisModule_DigestAddLongLong(to, (long long)value->cuckoo.items);
    for (uint32_t i = 0; i < value->cuckoo.filters; i++)
        RedisModule_DigestAddStringBuffer(to, (const char *)value->slots[i],
                                          exact_slots(&value->cuckoo, i));
    RedisModule_DigestEndSequence(to);
}

static void digest_valkey(RedisModuleDigest *to, const struct valkey *valkey)
{
    const struct valkey_shape *shape = &valkey->shape;
    RedisModule_DigestAddLongLong(to, shape->expansion);
    RedisModule_DigestAddStringBuffer(to, (const char *)&shape->rate, sizeof shape->rate);
    RedisModule_DigestAddStringBuffer(to, (const char *)&shape->tightening,
                                      sizeof shape->tightening);
    for (uint32_t i = 0; i < valkey->count; i++) {
        const struct valkey_layer *layer = &valkey->layers[i];
        RedisModule_DigestAddStringBuffer(to, (const char *)layer->data,
                                          VALKEY_HEAD_BYTES + (size_t)layer->bytes);
        RedisModule_DigestAddLongLong(to, layer->items);
        RedisModule_DigestAddLongLong(to, layer->capacity);
    }
    RedisModule_DigestEndSequence(to);
}

static void digest(RedisModuleDigest *to, void *value)
{
    enum { PIECE = 1 << 16 };
    struct value *v = value;
    struct tamis_segment_stat segment = {.size = sizeof segment};
    if (is_exact_cuckoo(v)) {
        digest_slots(to, v);
        return;
    }
    if (v->valkey != NULL) {
        digest_valkey(to, v->valkey);
        return;
    }
    if (value_open(v) < 0) {
        RedisModule_DigestEndSequence(to);
        return;
    }
    char *buffer = RedisModule_Alloc(PIECE);
    durable_wait(v);
    RedisModule_DigestAddLongLong(to, tamis_filter_items(v->filter));
    for (uint32_t i = 0; tamis_filter_segment(v->filter, i, &segment) == 0; i++) {
        for (uint64_t at = 0; at < segment.data_bytes; at += PIECE) {
            const uint64_t left = segment.data_bytes - at;
            const size_t now = left < PIECE ? (size_t)left : PIECE;
            if (tamis_filter_read_data(v->filter, i, at, buffer, now) < 0) break;
            RedisModule_DigestAddStringBuffer(to, buffer, now);
        }
    }
    RedisModule_DigestEndSequence(to);
    RedisModule_Free(buffer);
}

static void free_value(void *value)
{
    kept_release(value);
}

static void on_unlink(RedisModuleKeyOptCtx *ctx, const void *value)
{
    (void)ctx;
    registry_key_is_gone((struct value *)(uintptr_t)value);
}

/* ---- The types ------------------------------------------------------------------------------- */

int types_register(RedisModuleCtx *ctx)
{
    RedisModuleTypeMethods methods = {.version = REDISMODULE_TYPE_METHOD_VERSION,
                                      .rdb_load = rdb_load_bloom,
                                      .rdb_save = rdb_save_value,
                                      .aof_rewrite = aof_rewrite_value,
                                      .mem_usage = mem_usage,
                                      .digest = digest,
                                      .free = free_value,
                                      .unlink2 = on_unlink,
                                      .copy2 = copy_value};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        methods.rdb_load = kinds[i].load;
        *kinds[i].type =
            RedisModule_CreateDataType(ctx, kinds[i].name, kinds[i].encoding_version, &methods);
        if (*kinds[i].type != NULL) continue;
        RedisModule_Log(ctx, "warning",
                        "the type %s is taken: RedisBloom, valkey-bloom, or another copy of this "
                        "module, is loaded already",
                        kinds[i].name);
        return REDISMODULE_ERR;
    }
    return REDISMODULE_OK;
}
