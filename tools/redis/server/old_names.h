/* SPDX-License-Identifier: BSD-2-Clause */
/* old_names.h: the settings of RedisBloom, bf-error-rate and so on, which are ours by other names.
 */
#pragma once

#include "server/redis_api.h"

/*
 * Makes them known, and loads what redis.conf says of all settings.  The caller has registered our
 * own.  Redis 8 takes names without the module's before them, so there they are registered.  On
 * other servers they are aliases (config_alias()).  REDISMODULE_ERR: a line of redis.conf is wrong;
 * the log says which.
 */
int old_names_load(RedisModuleCtx *ctx);
