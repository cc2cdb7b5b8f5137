/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bf_dump.c: BF.SCANDUMP and BF.LOADCHUNK.
 *
 * The first answer of BF.SCANDUMP is a head: RedisBloom's, of an exact filter, else that of our
 * stream.  BF.LOADCHUNK makes a filter from either.  The others are the data in pieces, which come
 * in any order.  Bits are set by them and never cleared.
 */
#include "commands/command.h"
#include "kept/still.h"
#include "keys/shape.h"
#include "value/pieces.h"

static void reply_pair(RedisModuleCtx *ctx, long long iterator, const char *data, size_t bytes)
{
    (void)RedisModule_ReplyWithArray(ctx, 2);
    (void)RedisModule_ReplyWithLongLong(ctx, iterator);
    (void)RedisModule_ReplyWithStringBuffer(ctx, data, bytes);
}

/* Can the filter not be sent in pieces?  A piece has bits alone, and neither fingerprints of kind
 * fuse nor exceptions are bits. */
static bool is_whole_only(const struct value *value)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    return value_is_static(value) ||
           (tamis_filter_stat(value->filter, &stat) == 0 && stat.exceptions > 0);
}

static void dump_bloom(RedisModuleCtx *ctx, struct value *value, long long iterator)
{
    unsigned char head[HEAD_ROOM];
    char *piece = NULL;
    int64_t bytes = 0;
    if (iterator == 0 && is_whole_only(value)) {
        (void)RedisModule_ReplyWithError(
            ctx, "ERR a filter of kind fuse, or with exceptions, has no pieces; use DUMP and "
                 "RESTORE, or 'tamis export' and TAMIS.LOAD");
        return;
    }
    if (iterator == 0) {
        bytes = head_of_value(value, head);
        if (bytes > 0) reply_pair(ctx, 1, (const char *)head, (size_t)bytes);
    } else {
        if (iterator > 0) bytes = pieces_read(value, (uint64_t)iterator - 1, &piece);
        if (bytes >= 0)
            reply_pair(ctx, bytes > 0 ? iterator + bytes : 0, bytes > 0 ? piece : "",
                       (size_t)bytes);
    }
    if (bytes < 0) (void)reply_failure(ctx, "the filter cannot be dumped");
    RedisModule_Free(piece);
}

int bf_scandump(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key;
    long long iterator;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    struct value *value = key_open_bloom(ctx, argv[1], REDISMODULE_READ, &key);
    if (value == NULL) return REDISMODULE_OK;
    if (value->valkey != NULL)
        (void)RedisModule_ReplyWithError(
            ctx, "ERR a filter of valkey-bloom has no pieces; use DUMP and RESTORE");
    else if (RedisModule_StringToLongLong(argv[2], &iterator) != REDISMODULE_OK)
        (void)RedisModule_ReplyWithError(ctx, "Second argument must be numeric");
    else
        dump_bloom(ctx, value, iterator);
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

/* Makes the filter of a key from a head.  Returns the text of an error, or NULL. */
static const char *load_bloom_head(RedisModuleCtx *ctx, RedisModuleKey *key,
                                   RedisModuleString *name, const char *head, size_t bytes,
                                   bool durable)
{
    unsigned char plain[HEAD_ROOM];
    size_t key_bytes;
    const char *text = RedisModule_StringPtrLen(name, &key_bytes);
    const size_t left =
        head_is_tamis(head, bytes) ? 0 : head_without_seed(head, bytes, 12, 4, BLOOM_SEED, plain);
    if (left > 0) {
        head = (const char *)plain;
        bytes = left;
    }
    if (head_is_too_large(head, bytes)) return "ERR received bad data";
    struct value *value = value_new(TYPE_BLOOM);
    value->durable = durable;
    const int rc =
        make_from_head(value, RedisModule_GetSelectedDb(ctx), text, key_bytes, head, bytes);
    if (rc == 0) {
        key_set(ctx, key, name, value);
        return NULL;
    }
    value_free(value);
    if (rc == MAKING_IS_PUT_OFF) return put_off;
    RedisModule_Log(ctx, "warning", "BF.LOADCHUNK of a head: %s", last_failure());
    return "ERR received bad data";
}

static const char *load_bloom_piece(RedisModuleCtx *ctx, struct value *value, long long iterator,
                                    const char *data, size_t bytes)
{
    struct place place;
    if (iterator <= 0 || (unsigned long long)iterator < bytes) return "ERR received bad data";
    if ((unsigned long long)iterator == bytes ||
        !pieces_find(value, (uint64_t)iterator - bytes - 1, &place))
        return "ERR invalid offset - no link found";
    if (bytes > place.left) return "ERR invalid chunk - Too big for current filter";
    if (tamis_filter_write_data(value->filter, place.segment, place.offset, data, bytes) == 0)
        return NULL;
    RedisModule_Log(ctx, "warning", "BF.LOADCHUNK: %s", tamis_last_error());
    return "ERR received bad data";
}

static int loadchunk(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct value *value;
    long long iterator;
    size_t bytes;
    const char *error;
    /* RedisBloom has no DURABLE here.  Our AOF says by it that the filter is durable. */
    const bool durable = argc == 5 && arg_is(argv[4], "DURABLE");
    if (argc != 4 && !durable) return RedisModule_WrongArity(ctx);
    if (RedisModule_StringToLongLong(argv[2], &iterator) != REDISMODULE_OK)
        return RedisModule_ReplyWithError(ctx, "ERR Second argument must be numeric");
    const char *data = RedisModule_StringPtrLen(argv[3], &bytes);
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], READ_WRITE);
    if (key_puts_off(ctx, key, TYPE_BLOOM, 0)) {
        RedisModule_CloseKey(key);
        return REDISMODULE_OK;
    }
    const enum held held = key_held(key, TYPE_BLOOM, &value);
    if (held == HELD_OTHER || held == HELD_CLOSED)
        error = held_error(held);
    else if (held == HELD_VALUE && value->valkey != NULL)
        error = "ERR received bad data";
    else if (held == HELD_VALUE && still_puts_off(ctx, value, bf_loadchunk))
        error = put_off;
    else if (held == HELD_VALUE)
        error = load_bloom_piece(ctx, value, iterator, data, bytes);
    else
        error =
            iterator == 1 ? load_bloom_head(ctx, key, argv[1], data, bytes, durable) : NOT_FOUND;
    return end_change(ctx, key, error);
}

int bf_loadchunk(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return making_run(ctx, argv, argc, loadchunk, bf_loadchunk, true);
}
