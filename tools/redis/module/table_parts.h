/* SPDX-License-Identifier: BSD-2-Clause */
/* table_parts.h: what the tables of commands are written with: flags, keys and arguments. */
#pragma once

#include "commands/command.h"
#include "module/register.h"

#define SINCE "0.1.0" /* of commands that RedisBloom does not have */

#define ADDS "write deny-oom"
#define ASKS "readonly fast"

#define READS_KEY (REDISMODULE_CMD_KEY_RO | REDISMODULE_CMD_KEY_ACCESS)
#define ADDS_KEY (REDISMODULE_CMD_KEY_RW | REDISMODULE_CMD_KEY_INSERT)
#define CHANGES_KEY (REDISMODULE_CMD_KEY_RW | REDISMODULE_CMD_KEY_UPDATE)
#define DELETES_KEY (REDISMODULE_CMD_KEY_RW | REDISMODULE_CMD_KEY_DELETE)

/* A row of a table: what each command has, and behind it what some have. */
#define COMMAND(its_name, function, its_flags, categories, its_arity, its_key, its_since,          \
                its_summary, its_complexity, ...)                                                  \
    {                                                                                              \
        .name = its_name, .run = function, .flags = its_flags, .acl = categories,                  \
        .arity = its_arity, .key = its_key, .since = its_since, .summary = its_summary,            \
        .complexity = its_complexity, __VA_ARGS__                                                  \
    }

/* Arguments. */
#define STRING REDISMODULE_ARG_TYPE_STRING
#define INTEGER REDISMODULE_ARG_TYPE_INTEGER
#define DOUBLE REDISMODULE_ARG_TYPE_DOUBLE
#define WORD REDISMODULE_ARG_TYPE_PURE_TOKEN
#define KEY                                                                                        \
    {                                                                                              \
        .name = "key", .type = REDISMODULE_ARG_TYPE_KEY                                            \
    }
#define ITEM                                                                                       \
    {                                                                                              \
        .name = "item", .type = STRING                                                             \
    }
#define ITEMS                                                                                      \
    {                                                                                              \
        .name = "item", .type = STRING, .flags = REDISMODULE_CMD_ARG_MULTIPLE                      \
    }
/* An option that COMMAND DOCS calls `docs_name`, and that a command has as `written`. */
#define OPTION(docs_name, written, of)                                                             \
    {                                                                                              \
        .name = docs_name, .type = of, .token = written, .flags = REDISMODULE_CMD_ARG_OPTIONAL     \
    }
/* Ends a list of arguments. */
#define END                                                                                        \
    {                                                                                              \
        .name = NULL                                                                               \
    }
/* The same, where both are one word. */
#define OPTION_AS_WRITTEN(word, of) OPTION(word, word, of)

/* The arguments of commands that several tables have. */
static const RedisModuleCommandArg key_args[] = {KEY, END};
static const RedisModuleCommandArg item_args[] = {KEY, ITEM, END};
static const RedisModuleCommandArg items_args[] = {KEY, ITEMS, END};
static const RedisModuleCommandArg scandump_args[] = {
    KEY, {.name = "iterator", .type = INTEGER}, END};
static const RedisModuleCommandArg loadchunk_args[] = {
    KEY, {.name = "iterator", .type = INTEGER}, {.name = "data", .type = STRING}, END};
