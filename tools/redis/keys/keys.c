/* SPDX-License-Identifier: BSD-2-Clause */
/* keys.c: see keys.h. */
#include "keys/keys.h"

#include "keys/cf_shape.h"
#include "server/args.h"
#include "value/exact.h"

enum held key_held(RedisModuleKey *key, enum type type, struct value **value)
{
    *value = NULL;
    if (key == NULL || RedisModule_KeyType(key) == REDISMODULE_KEYTYPE_EMPTY) return HELD_NONE;
    if (RedisModule_KeyType(key) != REDISMODULE_KEYTYPE_MODULE) return HELD_OTHER;
    for (int i = 0; i < TYPES; i++) {
        if (type != TYPE_ANY && type != (enum type)i) continue;
        if (RedisModule_ModuleTypeGetType(key) != value_types[i]) continue;
        *value = RedisModule_ModuleTypeGetValue(key);
        return HELD_VALUE;
    }
    return HELD_OTHER;
}

struct value *key_open(RedisModuleCtx *ctx, RedisModuleString *name, enum type type, int mode,
                       RedisModuleKey **key)
{
    struct value *value;
    *key = RedisModule_OpenKey(ctx, name, mode);
    const enum held held = key_held(*key, type, &value);
    if (held == HELD_VALUE && (type != TYPE_ANY || !is_exact_cuckoo(value))) return value;
    RedisModule_CloseKey(*key);
    (void)RedisModule_ReplyWithError(
        ctx, held == HELD_NONE    ? NOT_FOUND
             : held == HELD_OTHER ? WRONG_TYPE
                                  : "ERR tamis: this is a cuckoo filter of RedisBloom, which has "
                                    "the commands CF.* only");
    return NULL;
}

void key_set(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name, struct value *value)
{
    (void)RedisModule_ModuleTypeSetValue(key, value_types[value->type], value);
    (void)RedisModule_NotifyKeyspaceEvent(
        ctx, REDISMODULE_NOTIFY_MODULE,
        value->type == TYPE_BLOOM ? "bloom.reserve" : "cuckoo.reserve", name);
}

struct value *key_made(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
                       struct value *value, int rc, const char *failure)
{
    if (rc == 0) {
        key_set(ctx, key, name, value);
        return value;
    }
    value_free(value);
    if (rc == TAMIS_ENOMEM)
        (void)RedisModule_ReplyWithError(ctx, "ERR Insufficient memory to create filter");
    else
        (void)reply_failure(ctx, failure);
    return NULL;
}

struct value *key_make(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
                       struct value *value, maker_fn *make, void *context, const char *failure)
{
    size_t bytes;
    const char *text = RedisModule_StringPtrLen(name, &bytes);
    if (make_filter(value, RedisModule_GetSelectedDb(ctx), text, bytes, make, context) < 0) {
        value_free(value);
        (void)reply_failure(ctx, failure);
        return NULL;
    }
    if (value->type == TYPE_CUCKOO) (void)cuckoo_of_counts(value);
    key_set(ctx, key, name, value);
    (void)RedisModule_ReplyWithSimpleString(ctx, "OK");
    return value;
}
