/* SPDX-License-Identifier: BSD-2-Clause */
/* settings.h: how config.h comes to have what the operator says. */
#pragma once

#include "server/redis_api.h"

/* What the module is called, "tamis" or "bf"; the server puts it before the settings. */
const char *settings_module_name(void);
/* What comes after that in our name of a setting that valkey-bloom has as "bf.NAME", or RedisBloom
 * as "bf-NAME" or "cf-NAME"; NULL: there is none. */
const char *settings_alias(const char *name);

/* Reads the arguments of loadmodule.  Comes first, as they say how the module is called.
 * REDISMODULE_ERR: one is wrong; the log says which. */
int settings_read(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
/* Registers the settings, and loads what redis.conf says of them.  REDISMODULE_ERR: a line of it is
 * wrong; the log says which. */
int settings_load(RedisModuleCtx *ctx);
