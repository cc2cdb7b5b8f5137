/* SPDX-License-Identifier: BSD-2-Clause */
/* bind.c: see bind.h. */
#include "home/bind.h"

#include <stdio.h>

#include "home/labels.h"
#include "server/args.h"
#include "server/config.h"
#include "value/drops.h"
#include "value/memory.h"
#include "value/store.h"

#define ID_DIGITS (2 * TAMIS_ID_BYTES)

/* What the AOF has told last: the command that makes the value follows at once. */
static struct {
    char *key; /* NULL: nothing */
    size_t key_bytes;
    int db;
    struct id id;
    struct memory *content; /* of a copy; NULL: it has none */
    uint32_t expansion;
    char *stream; /* of a copy that memory cannot have; NULL: it has none */
    size_t stream_bytes;
} told;

static void forget_told(void)
{
    RedisModule_Free(told.key);
    if (told.content != NULL) memory_release(told.content);
    RedisModule_Free(told.stream);
    told.key = told.stream = NULL;
    told.content = NULL;
}

static void write_id(const struct id *id, char text[ID_DIGITS + 1])
{
    for (size_t i = 0; i < TAMIS_ID_BYTES; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", id->bytes[i]);
}

/* The value that the key has comes to the store; without NOW it is the key's next value. */
#define NOW "NOW"
#define STREAM "STREAM"

static void tell(RedisModuleCtx *ctx, const char *key, size_t key_bytes, const struct value *value,
                 bool now)
{
    char text[ID_DIGITS + 1];
    write_id(&value->stored->id, text);
    (void)RedisModule_Replicate(ctx, "TAMIS.BIND", now ? "Rbbc" : "Rbb", key, key_bytes, text,
                                (size_t)ID_DIGITS, NOW);
}

static bool has_aof(RedisModuleCtx *ctx)
{
    return (RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_AOF) != 0;
}

void bind_tell(RedisModuleCtx *ctx, const char *key, size_t key_bytes, const struct value *value)
{
    if (has_aof(ctx)) tell(ctx, key, key_bytes, value, false);
}

void bind_tell_now(RedisModuleCtx *ctx, int db, const char *key, size_t key_bytes,
                   const struct value *value)
{
    if (has_aof(ctx) && RedisModule_SelectDb(ctx, db) == REDISMODULE_OK)
        tell(ctx, key, key_bytes, value, true);
}

void bind_tell_copy(RedisModuleCtx *ctx, const char *key, size_t key_bytes,
                    const struct value *value)
{
    RedisModuleString *pieces[1 + LAYERS_MAX];
    unsigned char head[HEAD_ROOM];
    char text[ID_DIGITS + 1];
    const struct memory *memory = value->memory;
    const int64_t bytes = has_aof(ctx) ? memory_head(memory, value->expansion, head) : 0;
    if (bytes <= 0) return;
    write_id(&(struct id){{0}}, text); /* no filter of the store has it */
    pieces[0] = RedisModule_CreateString(NULL, (const char *)head, (size_t)bytes);
    for (uint32_t i = 0; i < memory->count; i++)
        pieces[1 + i] = RedisModule_CreateString(NULL, memory->layers[i].bits.data,
                                                 (size_t)layer_bytes(memory, &memory->layers[i]));
    (void)RedisModule_Replicate(ctx, "TAMIS.BIND", "Rbbv", key, key_bytes, text, (size_t)ID_DIGITS,
                                pieces, (size_t)memory->count + 1);
    for (uint32_t i = 0; i <= memory->count; i++)
        RedisModule_FreeString(NULL, pieces[i]);
}

void bind_tell_stream(const char *key, size_t key_bytes, int db, const struct id *id,
                      const void *stream, size_t stream_bytes)
{
    char text[ID_DIGITS + 1];
    RedisModuleCtx *ctx = RedisModule_GetThreadSafeContext(NULL);
    write_id(id, text);
    if (has_aof(ctx) && RedisModule_SelectDb(ctx, db) == REDISMODULE_OK)
        (void)RedisModule_Replicate(ctx, "TAMIS.BIND", "Rbbcb", key, key_bytes, text,
                                    (size_t)ID_DIGITS, STREAM, stream, stream_bytes);
    RedisModule_FreeThreadSafeContext(ctx);
}

static bool is_told(int db, const char *key, size_t key_bytes)
{
    return told.key != NULL && told.db == db && told.key_bytes == key_bytes &&
           memcmp(told.key, key, key_bytes) == 0;
}

bool bind_take(int db, const char *key, size_t key_bytes, struct id *id)
{
    const bool is_it = is_told(db, key, key_bytes);
    if (is_it) *id = told.id;
    if (told.key != NULL) forget_told();
    return is_it;
}

bool bind_take_copy(int db, const char *key, size_t key_bytes, struct value *value, struct id *id,
                    char **stream, size_t *stream_bytes)
{
    const bool is_it = is_told(db, key, key_bytes);
    struct memory *content = is_it ? told.content : NULL;
    const uint32_t expansion = told.expansion;
    *stream = is_it ? told.stream : NULL;
    *stream_bytes = told.stream_bytes;
    if (is_it) told.content = NULL;
    if (is_it) told.stream = NULL;
    if (!bind_take(db, key, key_bytes, id)) return false;
    if (bind_to_store(value, id, db, key, key_bytes)) {
        if (content != NULL) memory_release(content);
        return true;
    }
    if (content == NULL) return false;
    value->expansion = expansion;
    value_settle(value, HOME_MEMORY, content);
    return true;
}

bool bind_to_store(struct value *value, const struct id *id, int db, const char *key,
                   size_t key_bytes)
{
    tamis_store *store = store_open();
    if (store == NULL || store_is_of_another() || stored_has(id)) return false;
    drops_take_back(id);
    if (tamis_filter_find_id(store, id->bytes, NULL) != 1) return false;
    if (value->home == HOME_MEMORY) memory_release(value->memory);
    struct stored *stored = stored_new(value, id, NULL);
    stored->found = true;
    if (config.restore == RESTORE_REPLACE || stored_open(stored) < 0) return true;
    labels_want(stored, db, key, key_bytes);
    return true;
}

static bool take_id(const RedisModuleString *arg, struct id *id)
{
    size_t bytes;
    const char *text = RedisModule_StringPtrLen(arg, &bytes);
    if (bytes != ID_DIGITS) return false;
    for (size_t i = 0; i < TAMIS_ID_BYTES; i++) {
        unsigned byte;
        if (sscanf(text + 2 * i, "%2x", &byte) != 1) return false;
        id->bytes[i] = (uint8_t)byte;
    }
    return true;
}

/* The key has a value: it was in memory, and came into the store at this moment of the AOF. */
static void bind_key(struct value *value, const struct id *id, int db, const char *key,
                     size_t key_bytes)
{
    if (value->home == HOME_MEMORY) (void)bind_to_store(value, id, db, key, key_bytes);
}

/* The content of a copy; NULL: it is damaged. */
static struct memory *take_content(RedisModuleString **pieces, int count, uint32_t *expansion)
{
    size_t bytes;
    struct memory *memory;
    const char *head = RedisModule_StringPtrLen(pieces[0], &bytes);
    if (memory_make_of_head(head, bytes, &memory, expansion) < 0) return NULL;
    bool good = memory->count == (uint32_t)count - 1;
    for (uint32_t i = 0; good && i < memory->count; i++) {
        const char *data = RedisModule_StringPtrLen(pieces[1 + i], &bytes);
        good = bytes == layer_bytes(memory, &memory->layers[i]);
        if (good) memcpy(memory->layers[i].bits.data, data, bytes);
    }
    if (good) return memory;
    memory_release(memory);
    return NULL;
}

/* Notes what is told of the next value of a key. */
static void note_told(RedisModuleString **argv, int argc, int db, const struct id *id)
{
    const char *name = RedisModule_StringPtrLen(argv[1], &told.key_bytes);
    forget_told();
    if (argc == 5 && arg_is(argv[3], STREAM)) {
        const char *stream = RedisModule_StringPtrLen(argv[4], &told.stream_bytes);
        told.stream = memcpy(RedisModule_Alloc(told.stream_bytes + 1), stream, told.stream_bytes);
    } else if (argc > 3) {
        told.content = take_content(argv + 3, argc - 3, &told.expansion);
    }
    told.key = memcpy(RedisModule_Alloc(told.key_bytes + 1), name, told.key_bytes);
    told.db = db;
    told.id = *id;
}

int tamis_bind(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct id id;
    size_t bytes;
    if (argc < 3) return RedisModule_WrongArity(ctx);
    const int flags = RedisModule_GetContextFlags(ctx);
    if ((flags & REDISMODULE_CTX_FLAGS_LOADING) == 0 &&
        (flags & REDISMODULE_CTX_FLAGS_REPLICATED) != 0) /* Valkey moves slots by a rewritten AOF */
        return RedisModule_ReplyWithSimpleString(ctx, "OK");
    if ((flags & REDISMODULE_CTX_FLAGS_LOADING) == 0)
        return RedisModule_ReplyWithError(ctx, "ERR TAMIS.BIND stands in the AOF of this server "
                                               "alone");
    if (!take_id(argv[2], &id)) return RedisModule_ReplyWithError(ctx, "ERR bad id");
    const char *name = RedisModule_StringPtrLen(argv[1], &bytes);
    const int db = RedisModule_GetSelectedDb(ctx);
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], REDISMODULE_READ);
    const RedisModuleType *type = key == NULL ? NULL : RedisModule_ModuleTypeGetType(key);
    if (argc == 4 && arg_is(argv[3], NOW)) {
        if (type != NULL && (type == value_types[TYPE_BLOOM] || type == value_type_of_valkey))
            bind_key(RedisModule_ModuleTypeGetValue(key), &id, db, name, bytes);
    } else if (argc > 3 || !is_told(db, name, bytes) || !id_is(&told.id, &id)) {
        note_told(argv, argc, db, &id);
    }
    RedisModule_CloseKey(key);
    return RedisModule_ReplyWithSimpleString(ctx, "OK");
}
