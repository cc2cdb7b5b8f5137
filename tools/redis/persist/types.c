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

/* RedisBloom's types have encoding version 4; what we write has one that it refuses. */
#define ENCODING_VERSION 256

static const char *const names[TYPES] = {"MBbloom--", "MBbloomCF"};

/* What BF.INFO and CF.INFO call the size, as RedisBloom has it; most of it is a file. */
static size_t mem_usage(const void *value)
{
    const struct value *v = value;
    return v->type == TYPE_CUCKOO ? cuckoo_size_bytes(&v->cuckoo) : value_size_bytes(v);
}

static void digest_slots(RedisModuleDigest *to, const struct value *value)
{
    RedisModule_DigestAddLongLong(to, (long long)value->cuckoo.items);
    for (uint32_t i = 0; i < value->cuckoo.filters; i++)
        RedisModule_DigestAddStringBuffer(to, (const char *)value->slots[i],
                                          exact_slots(&value->cuckoo, i));
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
    for (int type = 0; type < TYPES; type++) {
        if (type == TYPE_CUCKOO) methods.rdb_load = rdb_load_cuckoo;
        value_types[type] =
            RedisModule_CreateDataType(ctx, names[type], ENCODING_VERSION, &methods);
        if (value_types[type] != NULL) continue;
        RedisModule_Log(ctx, "warning",
                        "the type %s is taken: RedisBloom, or another copy of this module, is "
                        "loaded already",
                        names[type]);
        return REDISMODULE_ERR;
    }
    return REDISMODULE_OK;
}
