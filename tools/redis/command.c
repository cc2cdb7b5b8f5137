/* SPDX-License-Identifier: BSD-2-Clause */
/* command.c: see command.h. */
#include "command.h"

#include <string.h>

#include "keeper.h"

struct counts counts;

static const RedisModuleCommandInfoVersion info_version = {
    .version = 1,
    .sizeof_historyentry = sizeof(RedisModuleCommandHistoryEntry),
    .sizeof_keyspec = sizeof(RedisModuleCommandKeySpec),
    .sizeof_arg = sizeof(RedisModuleCommandArg)};

/* Tells arity, key and documentation to COMMAND INFO and COMMAND DOCS. */
static int describe(RedisModuleCtx *ctx, const struct command *c)
{
    RedisModuleCommandKeySpec keys[2] = {{.flags = c->key,
                                          .begin_search_type = REDISMODULE_KSPEC_BS_INDEX,
                                          .bs.index = {.pos = 1},
                                          .find_keys_type = REDISMODULE_KSPEC_FK_RANGE,
                                          .fk.range = {.lastkey = c->more_keys, .keystep = 1}},
                                         {.flags = 0}};
    const RedisModuleCommandInfo info = {.version = &info_version,
                                         .summary = c->summary,
                                         .complexity = c->complexity,
                                         .since = c->since,
                                         .tips = c->tips,
                                         .arity = c->arity,
                                         .key_specs = c->key != 0 ? keys : NULL,
                                         .args = (RedisModuleCommandArg *)(uintptr_t)c->args};
    RedisModuleCommand *command = RedisModule_GetCommand(ctx, c->name);
    if (command == NULL) return REDISMODULE_ERR;
    if (RedisModule_SetCommandACLCategories != NULL && c->acl != NULL)
        (void)RedisModule_SetCommandACLCategories(command, c->acl);
    return RedisModule_SetCommandInfo(command, &info);
}

int commands_register(RedisModuleCtx *ctx, const struct command *table)
{
    const bool describes = RedisModule_GetCommand != NULL && RedisModule_SetCommandInfo != NULL;
    for (const struct command *c = table; c->name != NULL; c++) {
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
    if (RedisModule_KeyType(key) != REDISMODULE_KEYTYPE_MODULE ||
        RedisModule_ModuleTypeGetType(key) != value_types[type])
        return HELD_OTHER;
    *value = RedisModule_ModuleTypeGetValue(key);
    return HELD_VALUE;
}

void key_set(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name, struct value *value)
{
    (void)RedisModule_ModuleTypeSetValue(key, value_types[value->type], value);
    (void)RedisModule_NotifyKeyspaceEvent(
        ctx, REDISMODULE_NOTIFY_MODULE,
        value->type == TYPE_BLOOM ? "bloom.reserve" : "cuckoo.reserve", name);
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
