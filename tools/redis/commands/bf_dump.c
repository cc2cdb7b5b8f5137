/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bf_dump.c: BF.SCANDUMP and BF.LOADCHUNK.
 *
 * The first answer of BF.SCANDUMP is a head: RedisBloom's, of an exact filter, else that of our
 * stream.  BF.LOADCHUNK makes a filter from either.  The others are the data in pieces, which come
 * in any order.  Bits are set by them and never cleared.
 */
#include "commands/bf_parts.h"
#include "home/promote.h"
#include "value/homes.h"

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
    return value_is_stored(value) &&
           (stored_is_static(value->stored) ||
            (tamis_filter_stat(value->stored->filter, &stat) == 0 && stat.exceptions > 0));
}

static void dump_bloom(RedisModuleCtx *ctx, const struct value *value, long long iterator)
{
    unsigned char head[HEAD_ROOM];
    char *buffer = NULL;
    const void *piece = "";
    int64_t bytes = 0;
    if (iterator == 0 && is_whole_only(value)) {
        (void)RedisModule_ReplyWithError(
            ctx, "ERR a filter of kind fuse, or with exceptions, has no pieces; use DUMP and "
                 "RESTORE, or 'tamis export' and TAMIS.LOAD");
        return;
    }
    if (iterator == 0) {
        bytes = pieces_head(value, head);
        if (bytes > 0) reply_pair(ctx, 1, (const char *)head, (size_t)bytes);
    } else {
        if (iterator > 0)
            bytes = pieces_read(value, (uint64_t)iterator - 1, PIECE_BYTES, &piece, &buffer);
        if (bytes >= 0)
            reply_pair(ctx, bytes > 0 ? iterator + bytes : 0, bytes > 0 ? piece : "",
                       (size_t)bytes);
    }
    if (bytes < 0) (void)reply_failure(ctx, "the filter cannot be dumped");
    RedisModule_Free(buffer);
}

int bf_scandump(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key;
    long long iterator;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    struct value *value = key_open(ctx, argv[1], TYPE_BLOOM, REDISMODULE_READ, &key);
    if (value == NULL) return REDISMODULE_OK;
    if (value->home == HOME_VALKEY)
        (void)RedisModule_ReplyWithError(
            ctx, "ERR a filter of valkey-bloom has no pieces; use DUMP and RESTORE");
    else if (RedisModule_StringToLongLong(argv[2], &iterator) != REDISMODULE_OK)
        (void)RedisModule_ReplyWithError(ctx, "Second argument must be numeric");
    else
        dump_bloom(ctx, value, iterator);
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

/* Our own stream's head, of a filter that memory cannot have. */
static const char *load_stored_head(RedisModuleCtx *ctx, RedisModuleKey *key,
                                    RedisModuleString *name, const char *head, size_t bytes,
                                    bool durable)
{
    uint32_t expansion = 0;
    struct making *making = making_of(ctx);
    struct stream stream = {.durable = durable, .is_head = true};
    if (head_split((const unsigned char *)head, bytes, &expansion) == 0)
        return "ERR received bad data";
    if (making == NULL) {
        (void)stream_append(&stream, head, bytes);
        making = making_begin(ctx, bf_loadchunk, name, making_of_stream(&stream));
    }
    struct value *value = making_take(ctx, key, name, making, "could not create filter");
    if (value != NULL) value->expansion = expansion;
    return value != NULL ? NULL : put_off;
}

/* Makes the filter of a key from a head.  Returns the text of an error, or NULL. */
static const char *load_bloom_head(RedisModuleCtx *ctx, RedisModuleKey *key,
                                   RedisModuleString *name, const char *head, size_t bytes,
                                   bool durable)
{
    unsigned char plain[HEAD_ROOM];
    struct memory *memory;
    uint32_t expansion;
    const bool own = head_is_tamis(head, bytes);
    const size_t left = own ? 0 : head_without_seed(head, bytes, 12, 4, BLOOM_SEED, plain);
    if (left > 0) {
        head = (const char *)plain;
        bytes = left;
    }
    if (head_is_too_large(head, bytes)) return "ERR received bad data";
    const int rc =
        durable ? TAMIS_EUNSUPPORTED : memory_make_of_head(head, bytes, &memory, &expansion);
    if (rc == TAMIS_EUNSUPPORTED && own)
        return load_stored_head(ctx, key, name, head, bytes, durable);
    if (rc < 0) {
        RedisModule_Log(ctx, "warning", "BF.LOADCHUNK of a head: %s", tamis_last_error());
        return "ERR received bad data";
    }
    struct value *value = value_new(TYPE_BLOOM);
    value->exact = !own;
    value->expansion = expansion;
    value_settle(value, HOME_MEMORY, memory);
    bf_born(ctx, key, name, value);
    return NULL;
}

static const char *load_bloom_piece(RedisModuleCtx *ctx, struct value *value, long long iterator,
                                    const char *data, size_t bytes)
{
    if (iterator <= 0 || (unsigned long long)iterator < bytes) return "ERR received bad data";
    const uint64_t begin = (uint64_t)iterator - bytes - 1;
    const uint64_t left = (uint64_t)iterator == bytes ? 0 : pieces_left(value, begin);
    if (left == 0) return "ERR invalid offset - no link found";
    if (bytes > left) return "ERR invalid chunk - Too big for current filter";
    if (pieces_write(value, begin, data, bytes) == 0) return NULL;
    RedisModule_Log(ctx, "warning", "BF.LOADCHUNK: %s", tamis_last_error());
    return "ERR received bad data";
}

/* Is the client put off, until a thread is done with the filter? */
static bool piece_waits(RedisModuleCtx *ctx, struct value *value)
{
    return value_is_stored(value) ? task_holds(ctx, value->stored, bf_loadchunk)
                                  : promote_wait(ctx, value, bf_loadchunk);
}

int bf_loadchunk(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
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
    const enum held held = key_held(key, TYPE_BLOOM, &value);
    if (held == HELD_OTHER || held == HELD_CLOSED)
        error = held_error(held);
    else if (held == HELD_VALUE && value->home == HOME_VALKEY)
        error = "ERR received bad data";
    else if (held == HELD_VALUE && piece_waits(ctx, value))
        error = put_off;
    else if (held == HELD_VALUE)
        error = load_bloom_piece(ctx, value, iterator, data, bytes);
    else
        error =
            iterator == 1 ? load_bloom_head(ctx, key, argv[1], data, bytes, durable) : NOT_FOUND;
    return end_change(ctx, key, error);
}
