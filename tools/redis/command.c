/* SPDX-License-Identifier: BSD-2-Clause */
/* command.c: see command.h. */
#include "command.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "cf_exact.h"
#include "cf_shape.h"

#define CATEGORIES_ROOM 64

struct counts counts;

static bool has_own_categories;

static const RedisModuleCommandInfoVersion info_version = {
    .version = 1,
    .sizeof_historyentry = sizeof(RedisModuleCommandHistoryEntry),
    .sizeof_keyspec = sizeof(RedisModuleCommandKeySpec),
    .sizeof_arg = sizeof(RedisModuleCommandArg)};

/* The categories of a command, and that of RedisBloom's data type, where the server has it. */
static const char *categories(const struct command *c, char text[CATEGORIES_ROOM])
{
    const char *type = strncmp(c->name, "bf.", 3) == 0   ? " bloom"
                       : strncmp(c->name, "cf.", 3) == 0 ? " cuckoo"
                                                         : "";
    (void)snprintf(text, CATEGORIES_ROOM, "%s%s", c->acl, has_own_categories ? type : "");
    return text;
}

void categories_register(RedisModuleCtx *ctx)
{
    has_own_categories = RedisModule_AddACLCategory != NULL &&
                         RedisModule_AddACLCategory(ctx, "bloom") == REDISMODULE_OK &&
                         RedisModule_AddACLCategory(ctx, "cuckoo") == REDISMODULE_OK;
}

/* Tells arity, key and documentation to COMMAND INFO and COMMAND DOCS. */
static int describe(RedisModuleCtx *ctx, const struct command *c)
{
    RedisModuleCommandKeySpec keys[3] = {{.flags = c->key,
                                          .begin_search_type = REDISMODULE_KSPEC_BS_INDEX,
                                          .bs.index = {.pos = 1},
                                          .find_keys_type = REDISMODULE_KSPEC_FK_RANGE,
                                          .fk.range = {.lastkey = c->more_keys, .keystep = 1}},
                                         {.flags = 0},
                                         {.flags = 0}};
    if (c->other_keys_at > 0 || c->keys_behind != NULL) {
        keys[1] = keys[0];
        keys[1].flags = REDISMODULE_CMD_KEY_RO | REDISMODULE_CMD_KEY_ACCESS;
        keys[1].bs.index.pos = c->other_keys_at;
        keys[1].fk.range.lastkey = -1;
    }
    if (c->keys_behind != NULL) {
        keys[1].begin_search_type = REDISMODULE_KSPEC_BS_KEYWORD;
        keys[1].bs.keyword.keyword = c->keys_behind;
        keys[1].bs.keyword.startfrom = 2;
    }
    const RedisModuleCommandInfo info = {.version = &info_version,
                                         .summary = c->summary,
                                         .complexity = c->complexity,
                                         .since = c->since,
                                         .tips = c->tips,
                                         .arity = c->arity,
                                         .key_specs = c->key != 0 ? keys : NULL,
                                         .args = (RedisModuleCommandArg *)(uintptr_t)c->args};
    char text[CATEGORIES_ROOM];
    RedisModuleCommand *command = RedisModule_GetCommand(ctx, c->name);
    if (command == NULL) return REDISMODULE_ERR;
    if (RedisModule_SetCommandACLCategories != NULL && c->acl != NULL)
        (void)RedisModule_SetCommandACLCategories(command, categories(c, text));
    return RedisModule_SetCommandInfo(command, &info);
}

int commands_register(RedisModuleCtx *ctx)
{
    const bool describes = RedisModule_GetCommand != NULL && RedisModule_SetCommandInfo != NULL;
    for (const struct command *c = commands; c->name != NULL; c++) {
        const int first = c->key != 0 ? 1 : 0;
        const int last = c->more_keys != 0 ? c->more_keys : first;
        int rc = RedisModule_CreateCommand(ctx, c->name, c->run, c->flags, first, last, first);
        if (rc == REDISMODULE_OK && describes) rc = describe(ctx, c);
        if (rc == REDISMODULE_OK) continue;
        RedisModule_Log(ctx, "warning",
                        "the command %s cannot be registered: another module may have it", c->name);
        return rc;
    }
    return REDISMODULE_OK;
}

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
    if (keeper_make(value, RedisModule_GetSelectedDb(ctx), text, bytes, make, context) < 0) {
        value_free(value);
        (void)reply_failure(ctx, failure);
        return NULL;
    }
    if (value->type == TYPE_CUCKOO) (void)cuckoo_of_counts(value);
    key_set(ctx, key, name, value);
    (void)RedisModule_ReplyWithSimpleString(ctx, "OK");
    return value;
}

struct items *items_of(RedisModuleString **argv, int count)
{
    static struct items items;
    static size_t room;
    const size_t wanted = (size_t)count;
    if (wanted > room) {
        room = wanted < 1024 ? 1024 : wanted;
        items.keys = RedisModule_Realloc(items.keys, room * sizeof *items.keys);
        items.answers = RedisModule_Realloc(items.answers, room);
        items.counts = RedisModule_Realloc(items.counts, room * sizeof *items.counts);
    }
    for (size_t i = 0; i < wanted; i++)
        items.keys[i].data = RedisModule_StringPtrLen(argv[i], &items.keys[i].bytes);
    items.count = wanted;
    return &items;
}

bool thread_start(void *(*run)(void *context), void *context)
{
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0) return false;
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    const bool started = pthread_create(&thread, &attributes, run, context) == 0;
    (void)pthread_attr_destroy(&attributes);
    return started;
}
