/* SPDX-License-Identifier: BSD-2-Clause */
/* bf_read.c: BF.INFO, BF.CARD and BF.DEBUG. */
#include <inttypes.h>
#include <stdio.h>

#include "commands/command.h"

int bf_card(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct value *value;
    int64_t items = 0;
    if (argc != 2) return RedisModule_WrongArity(ctx);
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], REDISMODULE_READ);
    const enum held held = key_held(key, TYPE_BLOOM, &value);
    if (held == HELD_VALUE) items = tamis_filter_items(value->filter);
    RedisModule_CloseKey(key);
    if (held == HELD_OTHER) return RedisModule_ReplyWithError(ctx, WRONG_TYPE);
    return items < 0 ? reply_failure(ctx, "the filter cannot be asked")
                     : RedisModule_ReplyWithLongLong(ctx, items);
}

/* ---- BF.INFO --------------------------------------------------------------------------------- */

enum { FIELDS = 5 };

static const struct {
    const char *asked, *name;
} fields[FIELDS] = {{"CAPACITY", "Capacity"},
                    {"SIZE", "Size"},
                    {"FILTERS", "Number of filters"},
                    {"ITEMS", "Number of items inserted"},
                    {"EXPANSION", "Expansion rate"}};

/* Fills in what the fields hold; -1 stands for null. */
static void measure(const struct value *value, long long numbers[FIELDS])
{
    struct tamis_segment_stat segment = {.size = sizeof segment};
    numbers[0] = 0;
    numbers[1] = (long long)value_size_bytes(value);
    numbers[2] = 0;
    numbers[3] = tamis_filter_items(value->filter);
    numbers[4] = value->expansion == 0 ? -1 : (long long)value->expansion;
    for (uint32_t i = 0; tamis_filter_segment(value->filter, i, &segment) == 0; i++) {
        numbers[0] += (long long)segment.capacity;
        numbers[2]++;
    }
}

static void reply_field(RedisModuleCtx *ctx, int field, long long number, bool named)
{
    if (named) (void)RedisModule_ReplyWithSimpleString(ctx, fields[field].name);
    if (number < 0)
        (void)RedisModule_ReplyWithNull(ctx);
    else
        (void)RedisModule_ReplyWithLongLong(ctx, number);
}

int bf_info(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    long long numbers[FIELDS];
    RedisModuleKey *key;
    int field = argc == 3 ? FIELDS : -1;
    if (argc != 2 && argc != 3) return RedisModule_WrongArity(ctx);
    const struct value *value = key_open(ctx, argv[1], TYPE_BLOOM, REDISMODULE_READ, &key);
    if (value == NULL) return REDISMODULE_OK;
    for (int i = 0; argc == 3 && i < FIELDS; i++)
        if (arg_is(argv[2], fields[i].asked)) field = i;
    measure(value, numbers);
    RedisModule_CloseKey(key);
    if (field == FIELDS) return RedisModule_ReplyWithError(ctx, "Invalid information value");
    if (field >= 0) {
        const bool named = reply_is_resp3(ctx);
        (void)(named ? RedisModule_ReplyWithMap(ctx, 1) : RedisModule_ReplyWithArray(ctx, 1));
        reply_field(ctx, field, numbers[field], named);
        return REDISMODULE_OK;
    }
    (void)RedisModule_ReplyWithMap(ctx, FIELDS);
    for (int i = 0; i < FIELDS; i++)
        reply_field(ctx, i, numbers[i], true);
    return REDISMODULE_OK;
}

/* ---- BF.DEBUG -------------------------------------------------------------------------------- */

int bf_debug(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct tamis_segment_stat s = {.size = sizeof s};
    RedisModuleKey *key;
    char text[256];
    long lines = 1;
    if (argc != 2) return RedisModule_WrongArity(ctx);
    const struct value *value = key_open(ctx, argv[1], TYPE_BLOOM, REDISMODULE_READ, &key);
    if (value == NULL) return REDISMODULE_OK;
    (void)RedisModule_ReplyWithArray(ctx, REDISMODULE_POSTPONED_LEN);
    (void)snprintf(text, sizeof text, "size:%" PRId64, tamis_filter_items(value->filter));
    (void)RedisModule_ReplyWithCString(ctx, text);
    for (uint32_t i = 0; tamis_filter_segment(value->filter, i, &s) == 0; i++, lines++) {
        (void)snprintf(text, sizeof text,
                       "bytes:%" PRIu64 " bits:%" PRIu64 " hashes:%u hashwidth:64 capacity:%" PRIu64
                       " size:%" PRIu64 " ratio:%g",
                       s.data_bytes, s.m_bits, s.k, s.capacity, s.items, s.fp_rate);
        (void)RedisModule_ReplyWithCString(ctx, text);
    }
    RedisModule_ReplySetArrayLength(ctx, lines);
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}
