/* SPDX-License-Identifier: BSD-2-Clause */
/* cf_read.c: CF.COUNT, CF.DEL, CF.COMPACT, CF.INFO and CF.DEBUG. */
#include <inttypes.h>
#include <stdio.h>

#include "commands/command.h"
#include "value/exact.h"

int cf_count(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct value *value;
    size_t bytes;
    int64_t count = 0;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    const char *item = RedisModule_StringPtrLen(argv[2], &bytes);
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], REDISMODULE_READ);
    const enum held held = key_held(key, TYPE_CUCKOO, &value);
    if (held == HELD_VALUE) count = (int64_t)exact_count(value->cuckoo, item, bytes);
    RedisModule_CloseKey(key);
    counts.asked++;
    return RedisModule_ReplyWithLongLong(ctx, count);
}

int cf_del(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct value *value;
    size_t bytes;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    const char *item = RedisModule_StringPtrLen(argv[2], &bytes);
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], READ_WRITE);
    const bool there = key_held(key, TYPE_CUCKOO, &value) == HELD_VALUE;
    const bool removed = there && exact_remove(value->cuckoo, item, bytes);
    RedisModule_CloseKey(key);
    if (!there) return RedisModule_ReplyWithError(ctx, "Not found");
    (void)RedisModule_ReplyWithBool(ctx, removed);
    return RedisModule_ReplicateVerbatim(ctx);
}

int cf_compact(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct value *value;
    if (argc != 2) return RedisModule_WrongArity(ctx);
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], READ_WRITE);
    const bool there = key_held(key, TYPE_CUCKOO, &value) == HELD_VALUE;
    if (there) exact_compact(value->cuckoo);
    RedisModule_CloseKey(key);
    if (!there) return RedisModule_ReplyWithError(ctx, "Cuckoo filter was not found");
    (void)RedisModule_ReplyWithSimpleString(ctx, "OK");
    return RedisModule_ReplicateVerbatim(ctx);
}

/* ---- What a filter is ------------------------------------------------------------------------ */

/* Opens a key for reading.  If it has no filter of CF.*, replies and returns false. */
static bool look(RedisModuleCtx *ctx, RedisModuleString *name, struct cuckoo *cuckoo)
{
    RedisModuleKey *key;
    const struct value *value = key_open(ctx, name, TYPE_CUCKOO, REDISMODULE_READ, &key);
    if (value == NULL) return false;
    *cuckoo = value->cuckoo->cuckoo;
    RedisModule_CloseKey(key);
    return true;
}

int cf_info(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct cuckoo c;
    if (argc != 2) return RedisModule_WrongArity(ctx);
    if (!look(ctx, argv[1], &c)) return REDISMODULE_OK;
    const struct {
        const char *name;
        uint64_t number;
    } fields[] = {{"Size", cuckoo_size_bytes(&c)},        {"Number of buckets", c.buckets},
                  {"Number of filters", c.filters},       {"Number of items inserted", c.items},
                  {"Number of items deleted", c.deletes}, {"Bucket size", c.bucket_size},
                  {"Expansion rate", c.expansion},        {"Max iterations", c.max_iterations}};
    const long count = (long)(sizeof fields / sizeof fields[0]);
    (void)RedisModule_ReplyWithMap(ctx, count);
    for (long i = 0; i < count; i++) {
        (void)RedisModule_ReplyWithSimpleString(ctx, fields[i].name);
        (void)RedisModule_ReplyWithLongLong(ctx, (long long)fields[i].number);
    }
    return REDISMODULE_OK;
}

int cf_debug(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct cuckoo c;
    char text[256];
    if (argc != 2) return RedisModule_WrongArity(ctx);
    if (!look(ctx, argv[1], &c)) return REDISMODULE_OK;
    (void)snprintf(text, sizeof text,
                   "bktsize:%u buckets:%" PRIu64 " items:%" PRIu64 " deletes:%" PRIu64
                   " filters:%u max_iterations:%u expansion:%u",
                   c.bucket_size, c.buckets, c.items, c.deletes, c.filters, c.max_iterations,
                   c.expansion);
    return RedisModule_ReplyWithCString(ctx, text);
}
