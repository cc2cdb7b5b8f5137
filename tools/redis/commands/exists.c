/* SPDX-License-Identifier: BSD-2-Clause */
/* exists.c: BF.EXISTS, BF.MEXISTS, CF.EXISTS and CF.MEXISTS. */
#include "commands/command.h"
#include "server/config.h"
#include "value/drafts.h"
#include "value/exact.h"
#include "value/light.h"
#include "value/recent.h"
#include "value/valkey.h"

static int ask_one(const struct value *value, const char *item, size_t bytes)
{
    if (value->filter != NULL) return tamis_filter_contains(value->filter, item, bytes);
    if (value->draft != NULL) return draft_contains(value, item, bytes);
    return is_exact_cuckoo(value) ? exact_contains(value, item, bytes)
                                  : valkey_contains(value->valkey, item, bytes);
}

/* RedisBloom answers 0 for a key of another type, and valkey-bloom, which has no CF.*, an error. */
static bool is_refused(enum held held, enum type type)
{
    return held == HELD_OTHER && type == TYPE_BLOOM && config.like == LIKE_VALKEY;
}

static int reply(RedisModuleCtx *ctx, enum type type, int there)
{
    return type == TYPE_BLOOM ? reply_yes_no(ctx, there) : RedisModule_ReplyWithBool(ctx, there);
}

/* Must the client wait?  The draft of a stream has its filter's bits, and only the library can ask
 * them.  Other drafts answer themselves. */
static bool waits(RedisModuleCtx *ctx, RedisModuleKey *key, enum type type, enum held held,
                  const struct value *value)
{
    return held == HELD_VALUE && value->draft != NULL && draft_content(value) != NULL &&
           key_puts_off(ctx, key, type, 0);
}

static int exists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, enum type type)
{
    struct value *value;
    size_t bytes;
    int rc = 0;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    const char *item = RedisModule_StringPtrLen(argv[2], &bytes);
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], REDISMODULE_READ);
    const struct tamis_key one = {item, bytes};
    uint8_t answer;
    enum held held = key_look(key, type, &value);
    if (waits(ctx, key, type, held, value)) {
        RedisModule_CloseKey(key);
        return REDISMODULE_OK;
    }
    if (held == HELD_VALUE && light_ask(value, &one, 1, &answer) == 1) {
        rc = answer;
    } else if ((held = key_held_or_draft(key, type, 0, &value)) == HELD_VALUE) {
        recent_used(value, argv[1]);
        rc = ask_one(value, item, bytes);
    }
    RedisModule_CloseKey(key);
    if (is_refused(held, type) || held == HELD_CLOSED)
        return RedisModule_ReplyWithError(ctx, held_error(held));
    counts.asked++;
    return rc < 0 ? reply_failure(ctx, "the filter cannot be asked") : reply(ctx, type, rc);
}

static int64_t ask_all(const struct value *value, const struct items *items)
{
    if (value->filter != NULL)
        return tamis_filter_contains_batch(value->filter, items->keys, items->count,
                                           items->answers);
    for (size_t i = 0; i < items->count; i++)
        items->answers[i] = (uint8_t)ask_one(value, items->keys[i].data, items->keys[i].bytes);
    return 0;
}

static int mexists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, enum type type)
{
    struct value *value;
    int64_t rc = 0;
    if (argc < 3) return RedisModule_WrongArity(ctx);
    const struct items *items = items_of(argv + 2, argc - 2);
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], REDISMODULE_READ);
    enum held held = key_look(key, type, &value);
    if (waits(ctx, key, type, held, value)) {
        RedisModule_CloseKey(key);
        return REDISMODULE_OK;
    }
    if (held != HELD_VALUE || light_ask(value, items->keys, items->count, items->answers) == 0) {
        held = key_held_or_draft(key, type, 0, &value);
        if (held == HELD_VALUE) rc = ask_all(value, items);
    }
    const bool there = held == HELD_VALUE;
    RedisModule_CloseKey(key);
    if (is_refused(held, type) || held == HELD_CLOSED)
        return RedisModule_ReplyWithError(ctx, held_error(held));
    if (rc < 0) return reply_failure(ctx, "the filter cannot be asked");
    counts.asked += items->count;
    (void)RedisModule_ReplyWithArray(ctx, (long)items->count);
    for (size_t i = 0; i < items->count; i++)
        (void)reply(ctx, type, there ? items->answers[i] : 0);
    return REDISMODULE_OK;
}

int bf_exists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return exists(ctx, argv, argc, TYPE_BLOOM);
}

int cf_exists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return exists(ctx, argv, argc, TYPE_CUCKOO);
}

int bf_mexists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return mexists(ctx, argv, argc, TYPE_BLOOM);
}

int cf_mexists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return mexists(ctx, argv, argc, TYPE_CUCKOO);
}
