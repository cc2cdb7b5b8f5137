/* SPDX-License-Identifier: BSD-2-Clause */
/* types.c: see types.h. */
#include "persist/types.h"

#include "home/bind.h"
#include "persist/rdb.h"
#include "value/exact.h"
#include "value/guest.h"
#include "value/task.h"

/* What BF.INFO and CF.INFO call the size, as RedisBloom has it; of a filter of the store most of it
 * is a file. */
static size_t mem_usage(const void *value)
{
    return value_size_bytes(value);
}

/* ---- DEBUG DIGEST ---------------------------------------------------------------------------- */

static void digest_slots(RedisModuleDigest *to, const struct exact *value)
{
    RedisModule_DigestAddLongLong(to, (long long)value->cuckoo.items);
    for (uint32_t i = 0; i < value->cuckoo.filters; i++)
        RedisModule_DigestAddStringBuffer(to, (const char *)value->slots[i],
                                          exact_slots(&value->cuckoo, i));
    RedisModule_DigestEndSequence(to);
}

static void digest_bits(RedisModuleDigest *to, const struct value *value)
{
    enum { PIECE = 1 << 16 };
    const void *piece;
    char *buffer;
    int64_t bytes;
    RedisModule_DigestAddLongLong(to, value_items(value));
    for (uint64_t at = 0; (bytes = pieces_read(value, at, PIECE_BYTES, &piece, &buffer)) > 0;
         at += (uint64_t)bytes) {
        for (size_t i = 0; i < (size_t)bytes; i += PIECE)
            RedisModule_DigestAddStringBuffer(
                to, (const char *)piece + i, (size_t)bytes - i < PIECE ? (size_t)bytes - i : PIECE);
        RedisModule_Free(buffer);
    }
    RedisModule_DigestEndSequence(to);
}

static void digest(RedisModuleDigest *to, void *of)
{
    struct value *value = of;
    if (value->home == HOME_CUCKOO)
        digest_slots(to, value->cuckoo);
    else if (value->home == HOME_VALKEY)
        guest->digest(to, value->valkey);
    else if (value->home == HOME_MEMORY ||
             (value->home == HOME_STORE && stored_open(value->stored) == 0))
        digest_bits(to, value);
    else
        RedisModule_DigestEndSequence(to);
}

/* ---- COPY ------------------------------------------------------------------------------------ */

/* Opens a filter of the store, and waits for what threads do for it.  Replicas have the changes in
 * the order of this server. */
static bool is_ready(const struct value *value)
{
    if (value->home == HOME_BROKEN) return false;
    if (value->home != HOME_STORE) return true;
    if (stored_open(value->stored) < 0) return false;
    work_wait(&value->stored->line);
    task_settle(NULL, value->stored);
    return true;
}

/* A copy is what a dump of the value makes.  That of a filter of the store is told the AOF, with
 * which this server makes the same copy again. */
static void *copy_value(RedisModuleKeyOptCtx *ctx, const void *value)
{
    struct value *from = (struct value *)(uintptr_t)value, *to = NULL;
    size_t bytes;
    const char *key = RedisModule_StringPtrLen(RedisModule_GetToKeyNameFromOptCtx(ctx), &bytes);
    const int db = RedisModule_GetToDbIdFromOptCtx(ctx);
    RedisModuleString *told = bind_take_copy(db, key, bytes), *payload = told;
    if (payload == NULL && is_ready(from)) payload = rdb_copy_out(from);
    if (payload != NULL) to = rdb_copy_in(payload, from);
    if (to != NULL && told == NULL && from->home == HOME_STORE)
        bind_tell_copy(db, key, bytes, to, payload);
    if (to == NULL)
        RedisModule_Log(NULL, "warning", "COPY to the key '%.*s': %s", (int)bytes, key,
                        tamis_last_error());
    if (payload != NULL) RedisModule_FreeString(NULL, payload);
    return to;
}

/* ---- The types ------------------------------------------------------------------------------- */

/* Returns NULL, and tells the log, if another module has the type. */
static RedisModuleType *register_type(RedisModuleCtx *ctx, const char *name, int encoding_version,
                                      void *(*load)(RedisModuleIO *rdb, int encver))
{
    RedisModuleTypeMethods methods = {.version = REDISMODULE_TYPE_METHOD_VERSION,
                                      .rdb_load = load,
                                      .rdb_save = rdb_save_value,
                                      .aof_rewrite = aof_rewrite_value,
                                      .mem_usage = mem_usage,
                                      .digest = digest,
                                      .free = value_free,
                                      .copy2 = copy_value};
    RedisModuleType *type = RedisModule_CreateDataType(ctx, name, encoding_version, &methods);
    if (type == NULL)
        RedisModule_Log(ctx, "warning",
                        "the type %s is taken: RedisBloom, valkey-bloom, or another copy of this "
                        "module, is loaded already",
                        name);
    return type;
}

int types_register(RedisModuleCtx *ctx)
{
    RedisModuleType *bloom = register_type(ctx, "MBbloom--", RDB_ENCODING, rdb_load_bloom);
    RedisModuleType *cuckoo = register_type(ctx, "MBbloomCF", RDB_ENCODING, rdb_load_cuckoo);
    value_types[TYPE_BLOOM] = bloom;
    value_types[TYPE_CUCKOO] = cuckoo;
    if (guest != NULL)
        value_type_of_valkey = register_type(ctx, "bloomfltr", RDB_ENCODING_VALKEY, guest->load);
    return bloom != NULL && cuckoo != NULL && (guest == NULL || value_type_of_valkey != NULL)
               ? REDISMODULE_OK
               : REDISMODULE_ERR;
}
