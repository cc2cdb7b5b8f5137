/* SPDX-License-Identifier: BSD-2-Clause */
/* config.c: see config.h. */
#include "server/config.h"

#include <string.h>

struct config config;

bool config_has_limits(void)
{
    const int flags = RedisModule_GetContextFlags(NULL);
    /* Beside asynchronous loading, clients of a replica that may be written to have their limits.
     */
    const bool loads = (flags & REDISMODULE_CTX_FLAGS_LOADING) != 0 &&
                       (flags & REDISMODULE_CTX_FLAGS_ASYNC_LOADING) == 0;
    const int follower = REDISMODULE_CTX_FLAGS_SLAVE | REDISMODULE_CTX_FLAGS_READONLY;
    return !loads && (flags & follower) != follower;
}

uint64_t config_max_bytes(void)
{
    return config_has_limits() ? (uint64_t)config.max_bytes : INT64_MAX;
}

size_t config_of_server(RedisModuleCtx *ctx, const char *name, char *text, size_t room)
{
    size_t bytes = 0;
    RedisModuleCallReply *pair = RedisModule_Call(ctx, "CONFIG", "cc", "GET", name), *value = NULL;
    if (pair != NULL) value = RedisModule_CallReplyArrayElement(pair, 1);
    const char *told = value != NULL ? RedisModule_CallReplyStringPtr(value, &bytes) : NULL;
    if (told == NULL || bytes >= room) bytes = 0;
    if (bytes > 0) memcpy(text, told, bytes);
    text[bytes] = '\0';
    if (pair != NULL) RedisModule_FreeCallReply(pair);
    return bytes;
}

bool server_field(RedisModuleCtx *ctx, const char *section, const char *name, char text[FIELD_ROOM])
{
    RedisModuleServerInfoData *info = RedisModule_GetServerInfo(ctx, section);
    const char *told = RedisModule_ServerInfoGetFieldC(info, name);
    const bool fits = told != NULL && strlen(told) < FIELD_ROOM;
    (void)strcpy(text, fits ? told : "");
    RedisModule_FreeServerInfo(ctx, info);
    return fits;
}
