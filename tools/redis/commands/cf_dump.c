/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_dump.c: CF.SCANDUMP and CF.LOADCHUNK.
 *
 * The first answer has RedisBloom's head, the others the slots, in pieces that come in any order.
 */
#include <string.h>

#include "commands/command.h"
#include "value/exact.h"
#include "value/head.h"
#include "value/homes.h"

static void reply_end(RedisModuleCtx *ctx)
{
    (void)RedisModule_ReplyWithArray(ctx, 2);
    (void)RedisModule_ReplyWithLongLong(ctx, 0);
    (void)RedisModule_ReplyWithNull(ctx);
}

static void reply_piece(RedisModuleCtx *ctx, uint64_t iterator, const void *data, uint64_t left)
{
    const size_t now = (size_t)(left < PIECE_BYTES ? left : PIECE_BYTES);
    (void)RedisModule_ReplyWithArray(ctx, 2);
    (void)RedisModule_ReplyWithLongLong(ctx, (long long)(iterator + now));
    (void)RedisModule_ReplyWithStringBuffer(ctx, data, now);
}

static void dump_cuckoo(RedisModuleCtx *ctx, const struct exact *exact, uint64_t iterator)
{
    unsigned char head[CUCKOO_HEAD_BYTES];
    struct part part;
    if (iterator == 0 && exact->cuckoo.items > 0) {
        cuckoo_write_head(&exact->cuckoo, head);
        (void)RedisModule_ReplyWithArray(ctx, 2);
        (void)RedisModule_ReplyWithLongLong(ctx, 1);
        (void)RedisModule_ReplyWithStringBuffer(ctx, (const char *)head, sizeof head);
    } else if (exact->cuckoo.items > 0 && exact_find(exact, iterator - 1, &part)) {
        reply_piece(ctx, iterator, part.slots, part.left);
    } else {
        reply_end(ctx);
    }
}

int cf_scandump(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key;
    long long iterator;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    if (!arg_integer(argv[2], 0, INT64_MAX, &iterator))
        return RedisModule_ReplyWithError(ctx, "Invalid position");
    const struct value *value = key_open(ctx, argv[1], TYPE_CUCKOO, REDISMODULE_READ, &key);
    if (value == NULL) return REDISMODULE_OK;
    dump_cuckoo(ctx, value->cuckoo, (uint64_t)iterator);
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

/* ---- In -------------------------------------------------------------------------------------- */

static const char *load_cuckoo_head(RedisModuleCtx *ctx, RedisModuleKey *key,
                                    RedisModuleString *name, const RedisModuleString *data)
{
    unsigned char plain[HEAD_ROOM];
    struct cuckoo cuckoo;
    size_t bytes;
    const char *head = RedisModule_StringPtrLen(data, &bytes);
    if (bytes == CUCKOO_HEAD_BYTES + 8) {
        bytes = head_without_seed(head, bytes, 24, 8, 0, plain);
        head = (const char *)plain;
        if (bytes == 0) return "Couldn't create filter!";
    }
    if (bytes != CUCKOO_HEAD_BYTES) return "Invalid header";
    if (!cuckoo_read_head((const unsigned char *)head, &cuckoo)) return "Couldn't create filter!";
    struct exact *exact;
    if (exact_make(&cuckoo, &exact) < 0) return "Couldn't create filter!";
    struct value *value = value_new(TYPE_CUCKOO);
    value_settle(value, HOME_CUCKOO, exact);
    key_set(ctx, key, name, value);
    return NULL;
}

static const char *load_cuckoo_piece(const struct exact *exact, long long iterator,
                                     const RedisModuleString *piece)
{
    static const char refusal[] = "Couldn't load chunk!";
    struct part part;
    size_t bytes;
    const char *data = RedisModule_StringPtrLen(piece, &bytes);
    if (iterator <= 0 || bytes == 0 || (uint64_t)iterator - 1 < bytes) return refusal;
    if (!exact_find(exact, (uint64_t)iterator - 1 - bytes, &part) || bytes > part.left)
        return refusal;
    memcpy(part.slots, data, bytes);
    return NULL;
}

int cf_loadchunk(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct value *value;
    long long iterator;
    const char *error;
    if (argc != 4) return RedisModule_WrongArity(ctx);
    if (RedisModule_StringToLongLong(argv[2], &iterator) != REDISMODULE_OK || iterator == 0)
        return RedisModule_ReplyWithError(ctx, "Invalid position");
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], READ_WRITE);
    const enum held held = key_held(key, TYPE_CUCKOO, &value);
    if (held == HELD_OTHER || held == HELD_CLOSED)
        error = held_error(held);
    else if (iterator == 1)
        error =
            held == HELD_VALUE ? "ERR item exists" : load_cuckoo_head(ctx, key, argv[1], argv[3]);
    else
        error = held == HELD_NONE ? NOT_FOUND : load_cuckoo_piece(value->cuckoo, iterator, argv[3]);
    return end_change(ctx, key, error);
}
