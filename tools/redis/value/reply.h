/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reply.h: errors with a sentence of the library.  It calls a filter as that was called when it was
 * opened: by its id, if it had no label yet.  A client knows the filter by its key.
 */
#pragma once

#include "server/redis_api.h"

/* "ERR <what>: <sentence>", and the same to the log. */
int reply_sentence(RedisModuleCtx *ctx, const char *what, const char *sentence);
/* As reply_sentence() with the library's sentence about its last error. */
int reply_failure(RedisModuleCtx *ctx, const char *what);
