/* SPDX-License-Identifier: BSD-2-Clause */
/* keys.c: see keys.h. */
#include "keys/keys.h"

#include <inttypes.h>
#include <stdio.h>

#include "home/promote.h"
#include "server/args.h"
#include "server/config.h"
#include "value/store.h"

enum held key_look(RedisModuleKey *key, enum type type, struct value **value)
{
    const RedisModuleType *its = key == NULL ? NULL : RedisModule_ModuleTypeGetType(key);
    *value = NULL;
    if (its == NULL) /* of no module: most commands do not come here */
        return key == NULL || RedisModule_KeyType(key) == REDISMODULE_KEYTYPE_EMPTY ? HELD_NONE
                                                                                    : HELD_OTHER;
    const bool bloom = its == value_types[TYPE_BLOOM] || its == value_type_of_valkey;
    const bool cuckoo = its == value_types[TYPE_CUCKOO];
    if (!(bloom && type != TYPE_CUCKOO) && !(cuckoo && type != TYPE_BLOOM)) return HELD_OTHER;
    *value = RedisModule_ModuleTypeGetValue(key);
    return HELD_VALUE;
}

static char closed[1200]; /* why the last HELD_CLOSED was one */

/* The sentence without what would end a reply. */
static void tell_closed(const char *sentence)
{
    (void)snprintf(closed, sizeof closed, "ERR the filter cannot be opened: %s", sentence);
    for (char *c = closed; *c != '\0'; c++)
        if (*c == '\r' || *c == '\n') *c = ' ';
}

static void tell_broken(const struct stored *stored)
{
    char name[TAMIS_ID_NAME_BYTES], text[512];
    tamis_id_name(stored->id.bytes, name);
    (void)snprintf(
        text, sizeof text,
        stored_counts(stored)
            ? "it counts, and is in the store of the server that made it alone (id %s, store "
              "%016" PRIx64 "); replicas have no counts (here: %s): ask that server, or use CF.*"
            : "the dump refers to the filter of the id %s in the store %016" PRIx64
              ", and the store %s does not have it; give the server that store, or DEL the key",
        strchr(name, ':') + 1, stored->store_id, config.store);
    tell_closed(text);
}

enum held key_held(RedisModuleKey *key, enum type type, struct value **value)
{
    const enum held held = key_look(key, type, value);
    if (held != HELD_VALUE || (*value)->home < HOME_STORE) return held;
    struct stored *stored = (*value)->stored;
    if ((*value)->home == HOME_STORE && stored_open(stored) == 0) return HELD_VALUE;
    if ((*value)->home == HOME_BROKEN)
        tell_broken(stored);
    else
        tell_closed(tamis_last_error());
    *value = NULL;
    return HELD_CLOSED;
}

const char *held_error(enum held held)
{
    if (held == HELD_NONE) return NOT_FOUND;
    return held == HELD_CLOSED ? closed : WRONG_TYPE;
}

struct value *key_open(RedisModuleCtx *ctx, RedisModuleString *name, enum type type, int mode,
                       RedisModuleKey **key)
{
    struct value *value;
    *key = RedisModule_OpenKey(ctx, name, mode);
    const enum held held = key_held(*key, type, &value);
    if (held == HELD_VALUE) return value;
    RedisModule_CloseKey(*key);
    (void)RedisModule_ReplyWithError(ctx, held_error(held));
    return NULL;
}

static const char *refusal_of(const struct value *value)
{
    if (value->home == HOME_CUCKOO)
        return "ERR tamis: this is a cuckoo filter of RedisBloom, which has the commands CF.* only";
    return value->home == HOME_VALKEY
               ? "ERR tamis: this is a filter of valkey-bloom, which has the "
                 "commands BF.* only"
               : NULL;
}

/* Brings a filter to the store; its client waits, or the server does.  Replies an error. */
static bool share(RedisModuleCtx *ctx, RedisModuleString *name, struct value *value,
                  RedisModuleReplyFunc *again)
{
    size_t bytes;
    const char *text = RedisModule_StringPtrLen(name, &bytes);
    const int db = RedisModule_GetSelectedDb(ctx);
    if (promote_failure(value) == NULL && args_can_wait(ctx)) {
        promote_begin(value, db, text, bytes);
        if (promote_wait(ctx, value, again)) return false;
    }
    const char *failure = promote_failure(value);
    if (failure == NULL && promote_now(ctx, value, db, text, bytes) == 0) return true;
    (void)reply_sentence(ctx, TOLD,
                         failure != NULL                  ? failure
                         : store_is_of_another()          ? "another server owns the store"
                         : promote_failure(value) != NULL ? promote_failure(value)
                                                          : tamis_last_error());
    return false;
}

struct value *key_open_stored(RedisModuleCtx *ctx, RedisModuleString *name, int mode,
                              RedisModuleReplyFunc *again, RedisModuleKey **key)
{
    struct value *value = key_open(ctx, name, TYPE_ANY, mode, key);
    const char *refusal = value == NULL ? NULL : refusal_of(value);
    if (refusal != NULL) (void)RedisModule_ReplyWithError(ctx, refusal);
    if (value == NULL) return NULL;
    if (refusal == NULL && (value_is_stored(value) || share(ctx, name, value, again))) return value;
    RedisModule_CloseKey(*key);
    return NULL;
}

RedisModuleKey *key_open_free(RedisModuleCtx *ctx, RedisModuleString *name, enum type type)
{
    struct value *value;
    RedisModuleKey *key = RedisModule_OpenKey(ctx, name, READ_WRITE);
    const enum held held = key_look(key, type, &value);
    if (held == HELD_NONE) return key;
    (void)RedisModule_ReplyWithError(ctx, held == HELD_OTHER ? WRONG_TYPE : "ERR item exists");
    RedisModule_CloseKey(key);
    return NULL;
}

void key_event(RedisModuleCtx *ctx, const char *event, RedisModuleString *name)
{
    const int class =
        config.like == LIKE_VALKEY ? REDISMODULE_NOTIFY_GENERIC : REDISMODULE_NOTIFY_MODULE;
    (void)RedisModule_NotifyKeyspaceEvent(ctx, class, event, name);
}

void key_set(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name, struct value *value)
{
    (void)RedisModule_ModuleTypeSetValue(key, value_type_of(value), value);
    key_event(ctx, value->type == TYPE_BLOOM ? "bloom.reserve" : "cuckoo.reserve", name);
}

bool key_has_done(RedisModuleCtx *ctx, const struct value *value)
{
    return value_is_stored(value) && value->stored->found &&
           (RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_LOADING) != 0;
}
