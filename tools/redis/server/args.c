/* SPDX-License-Identifier: BSD-2-Clause */
/* args.c: see args.h. */
#include "server/args.h"

#include <string.h>
#include <strings.h>

#include "server/config.h"

bool arg_is(const RedisModuleString *arg, const char *word)
{
    size_t bytes;
    const char *text = RedisModule_StringPtrLen(arg, &bytes);
    return bytes == strlen(word) && strncasecmp(text, word, bytes) == 0;
}

int arg_find(RedisModuleString **argv, int argc, int from, const char *word)
{
    for (int i = from; i < argc; i++)
        if (arg_is(argv[i], word)) return i;
    return 0;
}

bool arg_integer(const RedisModuleString *arg, long long least, long long most, long long *number)
{
    return RedisModule_StringToLongLong(arg, number) == REDISMODULE_OK && *number >= least &&
           *number <= most;
}

bool args_can_wait(RedisModuleCtx *ctx)
{
    const int no_client = REDISMODULE_CTX_FLAGS_DENY_BLOCKING | REDISMODULE_CTX_FLAGS_REPLICATED |
                          REDISMODULE_CTX_FLAGS_LOADING;
    return (RedisModule_GetContextFlags(ctx) & no_client) == 0 &&
           !RedisModule_IsBlockedReplyRequest(ctx);
}

bool reply_is_resp3(RedisModuleCtx *ctx)
{
    return (RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_RESP3) != 0;
}

int reply_yes_no(RedisModuleCtx *ctx, int yes)
{
    return config.like == LIKE_VALKEY ? RedisModule_ReplyWithLongLong(ctx, yes)
                                      : RedisModule_ReplyWithBool(ctx, yes);
}
