/* SPDX-License-Identifier: BSD-2-Clause */
/* register.h: how the server comes to know the commands. */
#pragma once

#include <stdint.h>

#include "server/redis_api.h"

struct command {
    const char *name; /* in lower case, as error texts have it */
    RedisModuleCmdFunc *run;
    const char *flags;
    const char *acl; /* categories, where the server has them (7.4 and later) */
    int arity;
    uint64_t key;            /* REDISMODULE_CMD_KEY_*; 0: there is none */
    int more_keys;           /* 0: argument 1 is the key; else the last one; -1: of all */
    int other_keys_at;       /* from this argument on they are keys that are read; 0: none */
    const char *keys_behind; /* the same behind this word; NULL: none */
    const char *since, *tips, *summary, *complexity;
    const RedisModuleCommandArg *args;
};

/* Makes RedisBloom's categories of ACL, where the server lets a module (7.4 and later).  Comes
 * before the commands. */
void categories_register(RedisModuleCtx *ctx);
int commands_register(RedisModuleCtx *ctx);

/* filter.c: the filter of commands. */
int filter_register(RedisModuleCtx *ctx);

/* The tables of commands (bf_table.c and so on); a name of NULL ends each. */
extern const struct command bf_commands[], cf_commands[], tamis_commands[];
/* A build may leave out the folders of these. */
extern const struct command valkey_commands[], bits_commands[];
