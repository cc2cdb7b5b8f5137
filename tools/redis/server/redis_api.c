/* SPDX-License-Identifier: BSD-2-Clause */
/* redis_api.c: see redis_api.h. */
#include "server/redis_api.h"

#define DEFINE(result, name, arguments) result(*RedisModule_##name) arguments;
REDIS_API_NEEDED(DEFINE)
REDIS_API_OPTIONAL(DEFINE)
#undef DEFINE

/* Stores the function of that name in *to, a pointer to a function pointer. */
typedef int get_fn(const char *name, void *to);

const char *redis_api_resolve(RedisModuleCtx *ctx)
{
    /* The context that a module gets at load begins with the function that gives the others. */
    get_fn *get = *(get_fn **)(void *)ctx;
#define NEEDED(result, name, arguments)                                                            \
    if (get("RedisModule_" #name, (void *)&RedisModule_##name) != REDISMODULE_OK)                  \
        return "RedisModule_" #name;
    REDIS_API_NEEDED(NEEDED)
#undef NEEDED
#define OPTIONAL(result, name, arguments)                                                          \
    if (get("RedisModule_" #name, (void *)&RedisModule_##name) != REDISMODULE_OK)                  \
        RedisModule_##name = NULL;
    REDIS_API_OPTIONAL(OPTIONAL)
#undef OPTIONAL
    return NULL;
}
