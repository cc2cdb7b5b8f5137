/* SPDX-License-Identifier: BSD-2-Clause */
/* types.c: see types.h. */
#include "persist/types.h"

#include "home/bind.h"
#include "home/labels.h"
#include "home/promote.h"
#include "keys/make.h"
#include "persist/aof.h"
#include "persist/rdb.h"
#include "value/exact.h"
#include "value/guest.h"
#include "value/homes.h"
#include "value/outline.h"
#include "value/pieces.h"

/* RedisBloom's, whose dumps are ours and the reverse; rdb.c says what RedisBloom refuses of ours.
 */
#define ENCODING_VERSION 4
/* That of valkey-bloom, which so reads what we write of its filters: rdb_valkey.c. */
#define VALKEY_ENCODING_VERSION 1

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
    for (uint64_t at = 0; (bytes = pieces_read(value, at, &piece, &buffer)) > 0;
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

/* Copies a filter that only the store can have. */
static int copy_special(const struct stored *from, struct value *to, int db, const char *key,
                        size_t bytes)
{
    struct stream stream = {.durable = from->durable};
    const struct tamis_sink sink = {
        .size = sizeof sink, .write = stream_append, .context = &stream};
    const int rc = tamis_filter_export(from->filter, "tamis", TAMIS_EXPORT_WITH_KEY, &sink);
    if (rc < 0) {
        RedisModule_Free(stream.data);
        return rc;
    }
    struct making *making = making_of_stream(&stream);
    bind_tell_stream(key, bytes, db, &making->id, stream.data, stream.bytes);
    return make_late(to, db, key, bytes, making);
}

/* The copy is what the AOF has told of it. */
static bool copy_told(const struct value *from, struct value *to, int db, const char *key,
                      size_t bytes)
{
    struct stream stream = {.durable = from->home == HOME_STORE && from->stored->durable};
    struct id id;
    if (bind_take_copy(db, key, bytes, to, &id, &stream.data, &stream.bytes)) {
        RedisModule_Free(stream.data);
        return true;
    }
    if (stream.data == NULL) return false;
    struct making *making = making_of_stream(&stream);
    making->id = id;
    return make_late(to, db, key, bytes, making) == 0;
}

static int copy_stored(struct value *from, struct value *to, int db, const char *key, size_t bytes)
{
    struct memory *memory;
    int rc = stored_open(from->stored);
    if (rc < 0) return rc;
    work_wait(&from->stored->line);
    task_settle(NULL, from->stored); /* replicas have the changes in the order of this server */
    if (!stored_is_plain(from->stored)) return copy_special(from->stored, to, db, key, bytes);
    rc = outline_make(from, &memory);
    if (rc < 0) return rc;
    rc = outline_fill(from, memory);
    memory->is_copy = true;
    if (rc == 0)
        value_settle(to, HOME_MEMORY, memory);
    else
        memory_release(memory);
    return rc;
}

static int copy_content(struct value *from, struct value *to, int db, const char *key, size_t bytes)
{
    void *content = NULL;
    if (from->home == HOME_STORE) return copy_stored(from, to, db, key, bytes);
    if (from->home == HOME_BROKEN) return TAMIS_ENOTFOUND;
    if (from->home == HOME_MEMORY) content = memory_copy(from->memory);
    if (from->home == HOME_VALKEY) content = guest->copy(from->valkey);
    if (from->home == HOME_CUCKOO && exact_copy(from->cuckoo, (struct exact **)&content) < 0)
        content = NULL;
    if (content == NULL) return TAMIS_ENOMEM;
    value_settle(to, from->home, content);
    return 0;
}

static void *copy_value(RedisModuleKeyOptCtx *ctx, const void *value)
{
    struct value *from = (struct value *)(uintptr_t)value, *to = value_new(from->type);
    size_t bytes;
    const char *key = RedisModule_StringPtrLen(RedisModule_GetToKeyNameFromOptCtx(ctx), &bytes);
    const int db = RedisModule_GetToDbIdFromOptCtx(ctx);
    if (from->home == HOME_STORE) (void)stored_open(from->stored); /* which tells of it */
    to->as_valkey = from->as_valkey;
    to->exact = from->exact;
    to->expansion = from->expansion;
    if (copy_told(from, to, db, key, bytes) || copy_content(from, to, db, key, bytes) == 0) {
        promote_if_large(to, db, key, bytes);
        return to;
    }
    RedisModule_Log(NULL, "warning", "COPY to the key '%.*s': %s", (int)bytes, key,
                    tamis_last_error());
    value_free(to);
    return NULL;
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
    RedisModuleType *bloom = register_type(ctx, "MBbloom--", ENCODING_VERSION, rdb_load_bloom);
    RedisModuleType *cuckoo = register_type(ctx, "MBbloomCF", ENCODING_VERSION, rdb_load_cuckoo);
    value_types[TYPE_BLOOM] = bloom;
    value_types[TYPE_CUCKOO] = cuckoo;
    if (guest != NULL)
        value_type_of_valkey =
            register_type(ctx, "bloomfltr", VALKEY_ENCODING_VERSION, guest->load);
    return bloom != NULL && cuckoo != NULL && (guest == NULL || value_type_of_valkey != NULL)
               ? REDISMODULE_OK
               : REDISMODULE_ERR;
}
