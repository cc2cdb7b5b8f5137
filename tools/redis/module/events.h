/* SPDX-License-Identifier: BSD-2-Clause */
/* events.h: keeps the store in step with what happens in the server. */
#pragma once

#include "server/redis_api.h"

int events_subscribe(RedisModuleCtx *ctx);
