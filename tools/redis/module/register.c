/* SPDX-License-Identifier: BSD-2-Clause */
/* register.c: see register.h. */
#include "module/register.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "server/config.h"

#define CATEGORIES_ROOM 64

static bool has_own_categories;

static const RedisModuleCommandInfoVersion info_version = {
    .version = 1,
    .sizeof_historyentry = sizeof(RedisModuleCommandHistoryEntry),
    .sizeof_keyspec = sizeof(RedisModuleCommandKeySpec),
    .sizeof_arg = sizeof(RedisModuleCommandArg)};

/* The categories of a command, and that of RedisBloom's data type, where the server has it. */
static const char *categories(const struct command *c, char text[CATEGORIES_ROOM])
{
    const char *type = strncasecmp(c->name, "bf.", 3) == 0   ? " bloom"
                       : strncasecmp(c->name, "cf.", 3) == 0 ? " cuckoo"
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
static int describe_command(RedisModuleCtx *ctx, const struct command *c)
{
    const int behind_first = c->more_keys > 0 ? c->more_keys - 1 : c->more_keys;
    RedisModuleCommandKeySpec keys[3] = {{.flags = c->key,
                                          .begin_search_type = REDISMODULE_KSPEC_BS_INDEX,
                                          .bs.index = {.pos = 1},
                                          .find_keys_type = REDISMODULE_KSPEC_FK_RANGE,
                                          .fk.range = {.lastkey = behind_first, .keystep = 1}},
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

static int register_command(RedisModuleCtx *ctx, const struct command *c)
{
    const int first = c->key != 0 ? 1 : 0;
    const int last = c->more_keys != 0 ? c->more_keys : first;
    int rc = RedisModule_CreateCommand(ctx, c->name, c->run, c->flags, first, last, first);
    if (rc == REDISMODULE_OK) rc = describe_command(ctx, c);
    if (rc != REDISMODULE_OK)
        RedisModule_Log(ctx, "warning",
                        "the command %s cannot be registered: another module may have it", c->name);
    return rc;
}

/* As register_command(), with the name, flags and arity that valkey-bloom has: a server tells the
 * name as it was registered in errors and in INFO commandstats; the command counts its arguments.
 */
static int register_as_valkey(RedisModuleCtx *ctx, const struct command *c)
{
    struct command as = *c;
    char name[32], flags[32], acl[32];
    const char *fast = strcmp(c->name, "bf.load") == 0 ? "" : " fast";
    size_t n = 0;
    for (; c->name[n] != '\0' && n + 1 < sizeof name; n++)
        name[n] = (char)toupper((unsigned char)c->name[n]);
    name[n] = '\0';
    (void)snprintf(flags, sizeof flags, "%s%s", c->flags, strstr(c->flags, "fast") ? "" : fast);
    (void)snprintf(acl, sizeof acl, "%s%s", c->acl, strstr(c->acl, "fast") ? "" : fast);
    as.name = name;
    as.flags = flags;
    as.acl = acl;
    as.arity = -1;
    return register_command(ctx, &as);
}

static const struct command *const tables[] = {
#ifdef TAMIS_MODULE_VALKEY
    valkey_commands,
#endif
#ifdef TAMIS_MODULE_BITS
    bits_commands,
#endif
    bf_commands, cf_commands, tamis_commands};
#define TABLES (sizeof tables / sizeof tables[0])

int commands_register(RedisModuleCtx *ctx)
{
    int rc = REDISMODULE_OK;
    for (size_t i = 0; i < TABLES; i++) {
        const bool as_valkey =
            config.like == LIKE_VALKEY && strncmp(tables[i]->name, "bf.", 3) == 0;
        for (const struct command *c = tables[i]; rc == REDISMODULE_OK && c->name != NULL; c++)
            rc = as_valkey ? register_as_valkey(ctx, c) : register_command(ctx, c);
    }
    return rc;
}
