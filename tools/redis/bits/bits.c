/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bits.c: SETBIT, GETBIT, BITCOUNT and STRLEN on keys that have a filter.
 *
 * A program that hashes keys by itself and sets their bits by SETBIT goes on unchanged, on a filter
 * of the hash set that is its own, while others use BF.*.  A filter of commands turns these four
 * into TAMIS.SETBIT and so on where a key of that name has a filter, in whatever database; these
 * call the server's own command if the key is of another type there.
 */
#include "bits/bits.h"

#include <string.h>

#include "commands/command.h"

#define OFFSET_MAX UINT32_MAX /* as SETBIT: a string has at most 512 MB */
#define BAD_OFFSET "ERR bit offset is not an integer or out of range"

static const struct {
    const char *name, *own;
    int arity; /* 0: any */
} turned[] = {{"setbit", "tamis.setbit", 4},
              {"getbit", "tamis.getbit", 3},
              {"bitcount", "tamis.bitcount", 2},
              {"strlen", "tamis.strlen", 2}};
#define TURNED (sizeof turned / sizeof turned[0])

/* ---- The filter of commands ------------------------------------------------------------------ */

/* Has a filter of the store, in whatever database, a key of that name?  There are few whose bits
 * SETBIT has. */
static bool has_key(const char *key, size_t bytes)
{
    const struct stored *s = stored_first();
    while (s != NULL &&
           !(s->key != NULL && s->key_bytes == bytes && memcmp(s->key, key, bytes) == 0))
        s = stored_next(s);
    return s != NULL;
}

void bits_turn(RedisModuleCommandFilterCtx *filter, int argc)
{
    size_t bytes;
    const RedisModuleString *name = RedisModule_CommandFilterArgGet(filter, 0);
    if (argc > 4 || value_count(HOME_STORE) == 0) return;
    const char first = (char)(*RedisModule_StringPtrLen(name, NULL) | 0x20);
    for (size_t i = 0; i < TURNED; i++) {
        if (argc != turned[i].arity || first != *turned[i].name || !arg_is(name, turned[i].name))
            continue;
        const char *key =
            RedisModule_StringPtrLen(RedisModule_CommandFilterArgGet(filter, 1), &bytes);
        if (has_key(key, bytes))
            (void)RedisModule_CommandFilterArgReplace(
                filter, 0, RedisModule_CreateString(NULL, turned[i].own, strlen(turned[i].own)));
        return;
    }
}

/* ---- The commands ---------------------------------------------------------------------------- */

/* The one segment of a filter whose bits are in the order of SETBIT.  Replies, and returns false,
 * if it is of another sort. */
static bool find_segment(RedisModuleCtx *ctx, const struct value *value,
                         struct tamis_segment_stat *segment)
{
    struct tamis_segment_stat second = {.size = sizeof second};
    *segment = (struct tamis_segment_stat){.size = sizeof *segment};
    if (tamis_filter_segment(value->stored->filter, 0, segment) == 0 &&
        tamis_kind_has(segment->kind, TAMIS_KIND_IS_PLAIN) && segment->bit_order == 1 &&
        tamis_filter_segment(value->stored->filter, 1, &second) < 0)
        return true;
    (void)RedisModule_ReplyWithError(
        ctx, "WRONGTYPE the key has a filter whose bits are not in the order of SETBIT");
    return false;
}

/* Opens a filter for one of the commands.  Returns NULL if the command was answered already. */
static struct value *open_bits(RedisModuleCtx *ctx, RedisModuleString **argv, int argc,
                               const char *command, int mode, RedisModuleKey **key,
                               struct tamis_segment_stat *segment)
{
    struct value *value;
    *key = RedisModule_OpenKey(ctx, argv[1], mode);
    const enum held held = key_held(*key, TYPE_BLOOM, &value);
    if (held != HELD_VALUE) {
        RedisModule_CloseKey(*key);
        if (held == HELD_CLOSED)
            (void)RedisModule_ReplyWithError(ctx, held_error(held));
        else
            (void)pass_on(ctx, command, "!v", argv, argc);
        return NULL;
    }
    if (!value_is_stored(value))
        (void)RedisModule_ReplyWithError(ctx, WRONG_TYPE); /* its hash set is another one */
    else if (find_segment(ctx, value, segment))
        return value;
    RedisModule_CloseKey(*key);
    return NULL;
}

/* The bit at that position; 0 past the end, as of a string. */
static int get_bit(const struct value *value, const struct tamis_segment_stat *segment,
                   uint64_t position)
{
    unsigned char byte = 0;
    if (position >= segment->m_bits) return 0;
    const int rc = tamis_filter_read_data(value->stored->filter, 0, position / 8, &byte, 1);
    return rc < 0 ? rc : (byte >> (7 - position % 8)) & 1;
}

int bits_setbit(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct tamis_segment_stat segment;
    RedisModuleKey *key;
    long long offset, bit;
    if (argc != 4) return RedisModule_WrongArity(ctx);
    const struct value *value = open_bits(ctx, argv, argc, "SETBIT", READ_WRITE, &key, &segment);
    if (value == NULL) return REDISMODULE_OK;
    const char *error = NULL;
    int rc = 0;
    if (!arg_integer(argv[2], 0, OFFSET_MAX, &offset))
        error = BAD_OFFSET;
    else if (!arg_integer(argv[3], 0, 1, &bit))
        error = "ERR bit is not an integer or out of range";
    else if (bit == 0 && get_bit(value, &segment, (uint64_t)offset) == 1)
        error = "ERR the bits of a filter are not cleared; delete the key to empty it";
    else if (bit == 1)
        rc = tamis_filter_set_bit(value->stored->filter, 0, (uint64_t)offset);
    RedisModule_CloseKey(key);
    if (error != NULL) return RedisModule_ReplyWithError(ctx, error);
    if (rc < 0) return reply_failure(ctx, "the bit cannot be set");
    (void)RedisModule_ReplyWithLongLong(ctx, rc);
    return RedisModule_ReplicateVerbatim(ctx);
}

int bits_getbit(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct tamis_segment_stat segment;
    RedisModuleKey *key;
    long long offset;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    const struct value *value =
        open_bits(ctx, argv, argc, "GETBIT", REDISMODULE_READ, &key, &segment);
    if (value == NULL) return REDISMODULE_OK;
    const bool good = arg_integer(argv[2], 0, OFFSET_MAX, &offset);
    const int rc = good ? get_bit(value, &segment, (uint64_t)offset) : 0;
    RedisModule_CloseKey(key);
    if (!good) return RedisModule_ReplyWithError(ctx, BAD_OFFSET);
    return rc < 0 ? reply_failure(ctx, "the filter cannot be asked")
                  : RedisModule_ReplyWithLongLong(ctx, rc);
}

int bits_bitcount(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct tamis_segment_stat segment;
    RedisModuleKey *key;
    if (argc != 2) return RedisModule_WrongArity(ctx);
    const struct value *value =
        open_bits(ctx, argv, argc, "BITCOUNT", REDISMODULE_READ, &key, &segment);
    if (value == NULL) return REDISMODULE_OK;
    const int rc = tamis_filter_fill(value->stored->filter, 0, &segment);
    RedisModule_CloseKey(key);
    return rc < 0 ? reply_failure(ctx, "the filter cannot be asked")
                  : RedisModule_ReplyWithLongLong(ctx, (long long)segment.ones);
}

int bits_strlen(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct tamis_segment_stat segment;
    RedisModuleKey *key;
    if (argc != 2) return RedisModule_WrongArity(ctx);
    const struct value *value =
        open_bits(ctx, argv, argc, "STRLEN", REDISMODULE_READ, &key, &segment);
    if (value == NULL) return REDISMODULE_OK;
    RedisModule_CloseKey(key);
    return RedisModule_ReplyWithLongLong(ctx, (long long)((segment.m_bits + 7) / 8));
}
