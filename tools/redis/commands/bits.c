/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bits.c: SETBIT, GETBIT, BITCOUNT and STRLEN on keys that have a filter.
 *
 * A program that hashes keys by itself and sets their bits by SETBIT goes on unchanged, on a filter
 * of the hash set that is its own, while others use BF.*.  A filter of commands turns these four
 * into TAMIS.SETBIT and so on where a key of that name has a filter, in whatever database; these
 * call the server's own command if the key is of another type there.  tamis_move.c turns RESTORE
 * and COPY.  Before SHUTDOWN all that threads have changed is replicated.
 */
#include <string.h>

#include "commands/command.h"
#include "kept/making.h"
#include "kept/still.h"
#include "registry/registry.h"
#include "server/clock.h"
#include "value/recent.h"

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

/* BF.ADD, BF.EXISTS, CF.ADD and so on: a key and an item. */
static void foresee(RedisModuleCommandFilterCtx *filter)
{
    recent_fetch(RedisModule_CommandFilterArgGet(filter, 1),
                 RedisModule_CommandFilterArgGet(filter, 2));
}

/* So soon a SHUTDOWN that has not ended the server is followed by one that waits for threads, too:
 * nobody has looked yet whether the client may give it. */
#define SHUTDOWNS_APART_NS ((int64_t)10 * 1000 * 1000 * 1000)

/* Is it one that the server would take, and not ABORT? */
static bool is_shutdown(RedisModuleCommandFilterCtx *filter, int argc)
{
    static const char *const words[] = {"SAVE", "NOSAVE", "NOW", "FORCE"};
    for (int i = 1; i < argc; i++) {
        size_t known = 0;
        const RedisModuleString *word = RedisModule_CommandFilterArgGet(filter, i);
        while (known < sizeof words / sizeof *words && !arg_is(word, words[known]))
            known++;
        if (known == sizeof words / sizeof *words) return false;
    }
    return true;
}

/* SHUTDOWN brings the AOF to its end before it tells of itself.  So all that threads have changed
 * is replicated before. */
static void settle_for_shutdown(RedisModuleCommandFilterCtx *filter, int argc)
{
    static int64_t next_ns;
    const int64_t now_ns = clock_ns();
    if (now_ns < next_ns || !is_shutdown(filter, argc)) return;
    making_settle_all();
    next_ns = clock_ns() + SHUTDOWNS_APART_NS;
}

/* Called before each command of the server, so most are told by their first letters. */
static void turn_command(RedisModuleCommandFilterCtx *filter)
{
    const int argc = RedisModule_CommandFilterArgsCount(filter);
    size_t bytes;
    const RedisModuleString *name = RedisModule_CommandFilterArgGet(filter, 0);
    const char *text = RedisModule_StringPtrLen(name, &bytes);
    if (bytes == 8 && arg_is(name, "shutdown")) settle_for_shutdown(filter, argc);
    if (argc < 2) return;
    if (bytes > 2 && text[2] == '.') {
        if (argc == 3 && (text[1] == 'f' || text[1] == 'F')) foresee(filter);
        return;
    }
    if ((*text | 0x20) == 'c' || (*text | 0x20) == 'r') { /* the text may be gone after these */
        if (argc >= 3 && (*text | 0x20) == 'c') aliases_turn(filter, argc);
        if (argc >= 3) move_turn(filter, argc);
        return;
    }
    if (argc > 4 || registry_is_empty()) return;
    for (size_t i = 0; i < TURNED; i++) {
        if (argc != turned[i].arity || (*text | 0x20) != *turned[i].name ||
            !arg_is(name, turned[i].name))
            continue;
        const char *key =
            RedisModule_StringPtrLen(RedisModule_CommandFilterArgGet(filter, 1), &bytes);
        if (registry_has_key(key, bytes))
            (void)RedisModule_CommandFilterArgReplace(
                filter, 0, RedisModule_CreateString(NULL, turned[i].own, strlen(turned[i].own)));
        return;
    }
}

int bits_register(RedisModuleCtx *ctx)
{
    move_prepare(ctx);
    return RedisModule_RegisterCommandFilter(ctx, turn_command, REDISMODULE_CMDFILTER_NOSELF) !=
                   NULL
               ? REDISMODULE_OK
               : REDISMODULE_ERR;
}

/* ---- The commands ---------------------------------------------------------------------------- */

/* The one segment of a filter whose bits are in the order of SETBIT.  Replies, and returns false,
 * if it is of another sort. */
static bool find_segment(RedisModuleCtx *ctx, const struct value *value,
                         struct tamis_segment_stat *segment)
{
    struct tamis_segment_stat second = {.size = sizeof second};
    *segment = (struct tamis_segment_stat){.size = sizeof *segment};
    if (tamis_filter_segment(value->filter, 0, segment) == 0 &&
        tamis_kind_has(segment->kind, TAMIS_KIND_IS_PLAIN) && segment->bit_order == 1 &&
        tamis_filter_segment(value->filter, 1, &second) < 0)
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
    if (key_puts_off(ctx, *key, TYPE_BLOOM, 0)) {
        RedisModule_CloseKey(*key);
        return NULL;
    }
    const enum held held = key_held(*key, TYPE_BLOOM, &value);
    if (held != HELD_VALUE) {
        RedisModule_CloseKey(*key);
        if (held == HELD_CLOSED)
            (void)RedisModule_ReplyWithError(ctx, held_error(held));
        else
            (void)pass_on(ctx, command, "!v", argv, argc);
        return NULL;
    }
    if (value->filter == NULL)
        (void)RedisModule_ReplyWithError(ctx, WRONG_TYPE); /* valkey-bloom's */
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
    const int rc = tamis_filter_read_data(value->filter, 0, position / 8, &byte, 1);
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
    if (still_puts_off(ctx, value, bits_setbit)) {
        RedisModule_CloseKey(key);
        return REDISMODULE_OK;
    }
    const char *error = NULL;
    int rc = 0;
    if (!arg_integer(argv[2], 0, OFFSET_MAX, &offset))
        error = BAD_OFFSET;
    else if (!arg_integer(argv[3], 0, 1, &bit))
        error = "ERR bit is not an integer or out of range";
    else if (bit == 0 && get_bit(value, &segment, (uint64_t)offset) == 1)
        error = "ERR the bits of a filter are not cleared; delete the key to empty it";
    else if (bit == 1)
        rc = tamis_filter_set_bit(value->filter, 0, (uint64_t)offset);
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
    const int rc = tamis_filter_fill(value->filter, 0, &segment);
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
