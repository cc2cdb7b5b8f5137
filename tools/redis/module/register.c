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

/* ---- Arguments ------------------------------------------------------------------------------- */

#define ARGUMENTS_ROOM 400

/* The arguments of a command, as the server wants them. */
struct arguments {
    char text[ARGUMENTS_ROOM];  /* the table's line, each name and word of it ended by a NUL */
    char names[ARGUMENTS_ROOM]; /* the same in lower case */
    RedisModuleCommandArg list[24], words[24], *next_word;
    int arity; /* below 0: at least so many */
};

/* Ends the name at `at` before one of the characters, and returns its name in lower case. */
static const char *end_name(struct arguments *a, char *at, const char *ends)
{
    char *end = at + strcspn(at, ends);
    *end = '\0';
    a->names[end - a->text] = '\0';
    return a->names + (at - a->text);
}

static int type_of(const char *name)
{
    if (strncmp(name, "integer", 7) == 0) return REDISMODULE_ARG_TYPE_INTEGER;
    if (strncmp(name, "double", 6) == 0) return REDISMODULE_ARG_TYPE_DOUBLE;
    return strncmp(name, "key", 3) == 0 ? REDISMODULE_ARG_TYPE_KEY : REDISMODULE_ARG_TYPE_STRING;
}

/* The words of which an argument is one. */
static RedisModuleCommandArg *read_words(struct arguments *a, char *at)
{
    RedisModuleCommandArg *words = a->next_word;
    for (char *next; at != NULL; at = next) {
        next = strchr(at, '|');
        if (next != NULL) next++;
        *a->next_word++ = (RedisModuleCommandArg){
            .name = end_name(a, at, "|]"), .type = REDISMODULE_ARG_TYPE_PURE_TOKEN, .token = at};
    }
    a->next_word++; /* one without a name ends them */
    return words;
}

static RedisModuleCommandArg read_argument(struct arguments *a, char *at)
{
    RedisModuleCommandArg argument = {.flags = *at == '[' ? REDISMODULE_CMD_ARG_OPTIONAL : 0};
    if (strstr(at, "...") != NULL) argument.flags |= REDISMODULE_CMD_ARG_MULTIPLE;
    at += *at == '[';
    char *end = at + strcspn(at, ":=.]");
    const char sort = *end;
    argument.name = end_name(a, at, ":=.]");
    if (isupper((unsigned char)*at)) argument.token = at;
    if (sort == '=') {
        argument.type = REDISMODULE_ARG_TYPE_ONEOF;
        argument.subargs = read_words(a, end + 1);
    } else {
        argument.type = argument.token != NULL && sort != ':' ? REDISMODULE_ARG_TYPE_PURE_TOKEN
                                                              : type_of(sort == ':' ? end + 1 : at);
    }
    return argument;
}

static void read_arguments(const struct command *c, struct arguments *a)
{
    char *rest = a->text;
    a->next_word = a->words;
    a->arity = 1;
    bool any_number = false;
    for (size_t i = 0; c->arguments[i] != '\0' && i + 1 < ARGUMENTS_ROOM; i++) {
        a->text[i] = c->arguments[i];
        a->names[i] = (char)tolower((unsigned char)c->arguments[i]);
    }
    RedisModuleCommandArg *to = a->list;
    for (char *at; (at = strtok_r(rest, " ", &rest)) != NULL; to++) {
        *to = read_argument(a, at);
        if (to > a->list && to->type == REDISMODULE_ARG_TYPE_KEY && c->other_keys_at > 0)
            to->key_spec_index = 1;
        a->arity += (to->flags & REDISMODULE_CMD_ARG_OPTIONAL) == 0;
        any_number |= to->flags != 0;
    }
    if (any_number) a->arity = -a->arity;
}

/* ---- Registration ---------------------------------------------------------------------------- */

/* Tells arity, key and documentation to COMMAND INFO and COMMAND DOCS. */
static int describe_command(RedisModuleCtx *ctx, const struct command *c, bool any_arity)
{
    struct arguments arguments = {.text = ""};
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
    read_arguments(c, &arguments);
    const RedisModuleCommandInfo info = {.version = &info_version,
                                         .summary = c->summary,
                                         .complexity = c->complexity,
                                         .since = c->since,
                                         .tips = c->tips,
                                         .arity = any_arity ? -1 : arguments.arity,
                                         .key_specs = c->key != 0 ? keys : NULL,
                                         .args = arguments.list};
    char text[CATEGORIES_ROOM];
    RedisModuleCommand *command = RedisModule_GetCommand(ctx, c->name);
    if (command == NULL) return REDISMODULE_ERR;
    if (RedisModule_SetCommandACLCategories != NULL && c->acl != NULL)
        (void)RedisModule_SetCommandACLCategories(command, categories(c, text));
    return RedisModule_SetCommandInfo(command, &info);
}

static int register_command(RedisModuleCtx *ctx, const struct command *c, bool any_arity)
{
    const int first = c->key != 0 ? 1 : 0;
    const int last = c->more_keys != 0 ? c->more_keys : first;
    int rc = RedisModule_CreateCommand(ctx, c->name, c->run, c->flags, first, last, first);
    if (rc == REDISMODULE_OK) rc = describe_command(ctx, c, any_arity);
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
    return register_command(ctx, &as, true);
}

static const struct command *const tables[] = {
#ifdef TAMIS_MODULE_VALKEY
    valkey_commands,
#endif
#ifdef TAMIS_MODULE_BITS
    bits_commands,
#endif
    commands};
#define TABLES (sizeof tables / sizeof tables[0])

int commands_register(RedisModuleCtx *ctx)
{
    int rc = REDISMODULE_OK;
    for (size_t i = 0; i < TABLES; i++) {
        for (const struct command *c = tables[i]; rc == REDISMODULE_OK && c->name != NULL; c++)
            rc = config.like == LIKE_VALKEY && strncmp(c->name, "bf.", 3) == 0
                     ? register_as_valkey(ctx, c)
                     : register_command(ctx, c, false);
    }
    return rc;
}
