/* SPDX-License-Identifier: BSD-2-Clause */
/* register.h: how the server comes to know the commands, and what their tables are written with. */
#pragma once

#include "commands/command.h"

struct command {
    const char *name; /* in lower case, as error texts have it */
    RedisModuleCmdFunc *run;
    const char *flags;
    const char *acl; /* categories, where the server has them (7.4 and later) */
    uint64_t key;    /* REDISMODULE_CMD_KEY_*; 0: there is none */
    const char *since, *arguments, *summary, *complexity, *tips;
    int more_keys;           /* 0: argument 1 is the key; else the last one; -1: of all */
    int other_keys_at;       /* from this argument on they are keys that are read; 0: none */
    const char *keys_behind; /* the same behind this word; NULL: none */
};

/* A row of a table: what each command has, and behind it what some have. */
#define COMMAND(its_name, function, its_flags, categories, its_key, its_since, its_arguments,      \
                its_summary, ...)                                                                  \
    {                                                                                              \
        .name = its_name, .run = function, .flags = its_flags, .acl = categories, .key = its_key,  \
        .since = its_since, .arguments = its_arguments, .summary = its_summary,                    \
        .complexity = __VA_ARGS__                                                                  \
    }

#define SINCE "0.1.0" /* of commands that RedisBloom does not have */

#define ADDS "write deny-oom"
#define ASKS "readonly fast"

#define READS_KEY (REDISMODULE_CMD_KEY_RO | REDISMODULE_CMD_KEY_ACCESS)
#define ADDS_KEY (REDISMODULE_CMD_KEY_RW | REDISMODULE_CMD_KEY_INSERT)
#define CHANGES_KEY (REDISMODULE_CMD_KEY_RW | REDISMODULE_CMD_KEY_UPDATE)
#define DELETES_KEY (REDISMODULE_CMD_KEY_RW | REDISMODULE_CMD_KEY_DELETE)

/* Makes RedisBloom's categories of ACL, where the server lets a module (7.4 and later).  Comes
 * before the commands. */
void categories_register(RedisModuleCtx *ctx);
int commands_register(RedisModuleCtx *ctx);

/* filter.c: the filter of commands. */
int filter_register(RedisModuleCtx *ctx);
/* events.c: keeps the store in step with what happens in the server. */
int events_subscribe(RedisModuleCtx *ctx);

/* The tables of commands; a name of NULL ends each.  A build may leave out the folders of two. */
extern const struct command commands[], valkey_commands[], bits_commands[];
