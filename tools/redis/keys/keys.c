/* SPDX-License-Identifier: BSD-2-Clause */
/* keys.c: see keys.h. */
#include "keys/keys.h"

#include "keys/cf_shape.h"
#include <stdio.h>

#include "server/args.h"
#include "server/config.h"
#include "value/drafts.h"
#include "value/exact.h"
#include "value/handles.h"
#include "value/light.h"
#include "value/valkey.h"

enum held key_look(RedisModuleKey *key, enum type type, struct value **value)
{
    const RedisModuleType *its = key == NULL ? NULL : RedisModule_ModuleTypeGetType(key);
    *value = NULL;
    if (its == NULL) /* of no module: most commands do not come here */
        return key == NULL || RedisModule_KeyType(key) == REDISMODULE_KEYTYPE_EMPTY ? HELD_NONE
                                                                                    : HELD_OTHER;
    for (int i = 0; i < TYPES; i++) {
        if (type != TYPE_ANY && type != (enum type)i) continue;
        if (its != value_types[i] && (i != TYPE_BLOOM || its != value_type_of_valkey)) continue;
        *value = RedisModule_ModuleTypeGetValue(key);
        return HELD_VALUE;
    }
    return HELD_OTHER;
}

static int open_error; /* of the last HELD_CLOSED */

/* Opens the filter of a value that key_look() has found. */
static enum held open_found(struct value **value)
{
    const int rc = value_open(*value);
    if (rc == 0) return HELD_VALUE;
    open_error = rc;
    *value = NULL;
    return HELD_CLOSED;
}

enum held key_held(RedisModuleKey *key, enum type type, struct value **value)
{
    const enum held held = key_look(key, type, value);
    return held == HELD_VALUE ? open_found(value) : held;
}

enum held key_held_or_draft(RedisModuleKey *key, enum type type, size_t keys, struct value **value)
{
    enum held held = key_look(key, type, value);
    if (held != HELD_VALUE || draft_has_room(*value, keys)) return held;
    const bool stays_known = keys == 0 && (*value)->is_known;
    held = open_found(value);
    if (held == HELD_VALUE) (*value)->is_known = stays_known;
    return held;
}

static keys_again_fn *find_again;

void keys_set_again(keys_again_fn *find)
{
    find_again = find;
}

bool key_puts_off(RedisModuleCtx *ctx, RedisModuleKey *key, enum type type, size_t keys)
{
    struct value *value;
    if (key_look(key, type, &value) != HELD_VALUE || value->draft == NULL) return false;
    if (keys > 0 && draft_has_room(value, keys)) return false;
    RedisModuleReplyFunc *again = find_again == NULL ? NULL : find_again(ctx);
    return again != NULL && draft_puts_off(ctx, value, again);
}

const char *held_error(enum held held)
{
    static char text[1200];
    if (held == HELD_NONE) return NOT_FOUND;
    if (held != HELD_CLOSED) return WRONG_TYPE;
    (void)snprintf(text, sizeof text, "ERR the filter cannot be opened: %s",
                   open_error == TAMIS_EDROPPED ? "the store does not have it any more"
                                                : tamis_last_error());
    for (char *c = text; *c != '\0'; c++)
        if (*c == '\r' || *c == '\n') *c = ' '; /* they would end the reply */
    return text;
}

/* Replies why a key was not opened, and closes it. */
static struct value *not_opened(RedisModuleCtx *ctx, RedisModuleKey *key, enum held held,
                                const struct value *value)
{
    RedisModule_CloseKey(key);
    (void)RedisModule_ReplyWithError(
        ctx, held != HELD_VALUE ? held_error(held)
             : is_exact_cuckoo(value)
                 ? "ERR tamis: this is a cuckoo filter of RedisBloom, which has "
                   "the commands CF.* only"
                 : "ERR tamis: this is a filter of valkey-bloom, which has the "
                   "commands BF.* only");
    return NULL;
}

static struct value *put_off(RedisModuleKey *key)
{
    RedisModule_CloseKey(key);
    return NULL;
}

struct value *key_open(RedisModuleCtx *ctx, RedisModuleString *name, enum type type, int mode,
                       RedisModuleKey **key)
{
    struct value *value;
    *key = RedisModule_OpenKey(ctx, name, mode);
    if (key_puts_off(ctx, *key, type, 0)) return put_off(*key);
    const enum held held = key_held(*key, type, &value);
    if (held == HELD_VALUE && (value->filter != NULL || type == TYPE_CUCKOO)) return value;
    return not_opened(ctx, *key, held, value);
}

struct value *key_open_bloom(RedisModuleCtx *ctx, RedisModuleString *name, int mode,
                             RedisModuleKey **key)
{
    struct value *value;
    *key = RedisModule_OpenKey(ctx, name, mode);
    if (key_puts_off(ctx, *key, TYPE_BLOOM, 0)) return put_off(*key);
    const enum held held = key_held(*key, TYPE_BLOOM, &value);
    return held == HELD_VALUE ? value : not_opened(ctx, *key, held, value);
}

struct value *key_open_or_lit(RedisModuleCtx *ctx, RedisModuleString *name, RedisModuleKey **key,
                              struct tamis_segment_stat *lit)
{
    struct value *value;
    *key = RedisModule_OpenKey(ctx, name, REDISMODULE_READ);
    *lit = (struct tamis_segment_stat){.size = sizeof *lit};
    if (key_puts_off(ctx, *key, TYPE_BLOOM, 0)) return put_off(*key);
    enum held held = key_look(*key, TYPE_BLOOM, &value);
    if (held == HELD_VALUE && light_segment(value, lit) == 1) return value;
    if (held == HELD_VALUE) held = open_found(&value);
    return held == HELD_VALUE ? value : not_opened(ctx, *key, held, value);
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

struct value *key_made(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
                       struct value *value, int rc, const char *failure)
{
    if (rc == 0) {
        key_set(ctx, key, name, value);
        return value;
    }
    value_free(value);
    if (rc == MAKING_IS_PUT_OFF) return NULL;
    if (rc == TAMIS_ENOMEM)
        (void)RedisModule_ReplyWithError(ctx, config.like == LIKE_VALKEY ? VALKEY_TOO_LARGE
                                                                         : VALKEY_NO_MEMORY);
    else
        (void)reply_failure(ctx, failure);
    return NULL;
}

struct value *key_make(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
                       struct value *value, const struct maker *maker, const char *failure)
{
    size_t bytes;
    const char *text = RedisModule_StringPtrLen(name, &bytes);
    const int rc = make_filter(value, RedisModule_GetSelectedDb(ctx), text, bytes, maker);
    if (rc != 0) {
        value_free(value);
        if (rc < 0) (void)reply_failure(ctx, failure);
        return NULL;
    }
    if (value->type == TYPE_CUCKOO) (void)cuckoo_of_counts(value);
    key_set(ctx, key, name, value);
    (void)RedisModule_ReplyWithSimpleString(ctx, "OK");
    return value;
}
