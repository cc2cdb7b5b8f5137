/* SPDX-License-Identifier: BSD-2-Clause */
/* types.h: the data types of keys, and what the server does with their values. */
#pragma once

#include "server/redis_api.h"

/* Makes the data types; REDISMODULE_ERR if a module has them already. */
int types_register(RedisModuleCtx *ctx);
