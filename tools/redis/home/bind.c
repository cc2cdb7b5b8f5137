/* SPDX-License-Identifier: BSD-2-Clause */
/* bind.c: see bind.h. */
#include "home/bind.h"

#include "home/labels.h"
#include "server/args.h"
#include "server/config.h"
#include "value/drops.h"
#include "value/memory.h"
#include "value/store.h"

#define NO_DB (-1) /* that of a value which is loaded from a payload of COPY */

/* What the AOF has told last: the command that makes the value follows at once. */
static struct {
    char *key; /* NULL: nothing */
    size_t key_bytes;
    int db;
    struct id id;
    RedisModuleString *payload; /* of a copy; NULL: it has none */
} told;

static void forget_told(void)
{
    RedisModule_Free(told.key);
    if (told.payload != NULL) RedisModule_FreeString(NULL, told.payload);
    told.key = NULL;
    told.payload = NULL;
}

/* Notes what is told of the next value of a key. */
static void note_told(int db, const char *key, size_t key_bytes, const struct id *id,
                      RedisModuleString *payload)
{
    forget_told();
    told.key = memcpy(RedisModule_Alloc(key_bytes + 1), key, key_bytes);
    told.key_bytes = key_bytes;
    told.db = db;
    told.id = *id;
    told.payload = payload;
    if (payload != NULL) RedisModule_RetainString(NULL, payload);
}

/* The value that the key has comes to the store; without NOW it is the key's next value. */
#define NOW "NOW"

static void tell(RedisModuleCtx *ctx, const char *key, size_t key_bytes, const struct value *value,
                 bool now)
{
    char name[TAMIS_ID_NAME_BYTES];
    (void)RedisModule_Replicate(ctx, "TAMIS.BIND", now ? "Rbcc" : "Rbc", key, key_bytes,
                                id_digits(&value->stored->id, name), NOW);
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

void bind_tell_copy(int db, const char *key, size_t key_bytes, const struct value *value,
                    const RedisModuleString *payload)
{
    char name[TAMIS_ID_NAME_BYTES];
    size_t bytes;
    RedisModuleCtx *ctx = RedisModule_GetThreadSafeContext(NULL);
    const char *data = RedisModule_StringPtrLen(payload, &bytes);
    const struct id none = {{0}}; /* no filter of the store has it */
    const struct id *id = value_is_stored(value) ? &value->stored->id : &none;
    if (has_aof(ctx) && RedisModule_SelectDb(ctx, db) == REDISMODULE_OK)
        (void)RedisModule_Replicate(ctx, "TAMIS.BIND", "Rbcb", key, key_bytes, id_digits(id, name),
                                    data, bytes);
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

RedisModuleString *bind_take_copy(int db, const char *key, size_t key_bytes)
{
    struct id id;
    RedisModuleString *payload = is_told(db, key, key_bytes) ? told.payload : NULL;
    if (payload != NULL) told.payload = NULL;
    if (bind_take(db, key, key_bytes, &id)) note_told(NO_DB, "", 0, &id, NULL);
    return payload;
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

/* The key has a value: it was in memory, and came into the store at this moment of the AOF. */
static void bind_key(struct value *value, const struct id *id, int db, const char *key,
                     size_t key_bytes)
{
    if (value->home == HOME_MEMORY) (void)bind_to_store(value, id, db, key, key_bytes);
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
    const char *digits = RedisModule_StringPtrLen(argv[2], &bytes);
    if (bytes != 2 * TAMIS_ID_BYTES || !id_read(digits, &id))
        return RedisModule_ReplyWithError(ctx, "ERR bad id");
    const char *name = RedisModule_StringPtrLen(argv[1], &bytes);
    const int db = RedisModule_GetSelectedDb(ctx);
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], REDISMODULE_READ);
    const RedisModuleType *type = key == NULL ? NULL : RedisModule_ModuleTypeGetType(key);
    if (argc == 4 && arg_is(argv[3], NOW)) {
        if (type != NULL && (type == value_types[TYPE_BLOOM] || type == value_type_of_valkey))
            bind_key(RedisModule_ModuleTypeGetValue(key), &id, db, name, bytes);
    } else if (argc > 3 || !is_told(db, name, bytes) || !id_is(&told.id, &id)) {
        note_told(db, name, bytes, &id, argc > 3 ? argv[3] : NULL);
    }
    RedisModule_CloseKey(key);
    return RedisModule_ReplyWithSimpleString(ctx, "OK");
}
