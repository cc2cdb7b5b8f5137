/* SPDX-License-Identifier: BSD-2-Clause */
/* command.c: see command.h. */
#include "commands/command.h"

struct counts counts;
const char put_off[] = "";

struct items *items_of(RedisModuleString **argv, int count)
{
    static struct items items;
    const size_t wanted = (size_t)count;
    if (wanted > items.room) {
        items.room = wanted < 1024 ? 1024 : wanted;
        items.keys = RedisModule_Realloc(items.keys, items.room * sizeof *items.keys);
        items.answers = RedisModule_Realloc(items.answers, items.room);
        items.counts = RedisModule_Realloc(items.counts, items.room * sizeof *items.counts);
    }
    for (size_t i = 0; i < wanted; i++)
        items.keys[i].data = RedisModule_StringPtrLen(argv[i], &items.keys[i].bytes);
    items.count = wanted;
    return &items;
}

int end_change(RedisModuleCtx *ctx, RedisModuleKey *key, const char *error)
{
    if (error == NULL) {
        (void)RedisModule_ReplyWithSimpleString(ctx, "OK");
        (void)RedisModule_ReplicateVerbatim(ctx);
    } else if (error != put_off) {
        (void)RedisModule_ReplyWithError(ctx, error);
    }
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

int pass_on(RedisModuleCtx *ctx, const char *command, const char *format, RedisModuleString **argv,
            int argc)
{
    RedisModuleCallReply *reply =
        RedisModule_Call(ctx, command, format, argv + 1, (size_t)argc - 1);
    if (reply == NULL) return RedisModule_ReplyWithError(ctx, "ERR the command cannot be called");
    (void)RedisModule_ReplyWithCallReply(ctx, reply);
    RedisModule_FreeCallReply(reply);
    return REDISMODULE_OK;
}
