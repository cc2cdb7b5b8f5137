/* SPDX-License-Identifier: BSD-2-Clause */
/* bf_reserve.c: BF.RESERVE, and how a key of BF.* comes to be. */
#include <string.h>
#include <sys/random.h>

#include "commands/bf_parts.h"
#include "server/config.h"
#include "value/drafts.h"

void bf_default_adding(struct adding *adding)
{
    const double rate = config.default_rate.value;
    *adding = (struct adding){
        .shape = {.rate = config.like == LIKE_REDISBLOOM && rate > RATE_MAX ? RATE_MAX : rate,
                  .capacity = (uint64_t)config.default_capacity,
                  .growth = (uint32_t)config.expansion,
                  .non_scaling = config.expansion == 0},
        .own = config_makes_valkey(),
        .valkey = {.rate = rate,
                   .tightening = config.tightening.value,
                   .capacity = config.default_capacity,
                   .expansion = (uint32_t)config.expansion},
        .draws = config.random_seed != 0};
    memcpy(adding->valkey.seed, valkey_fixed_seed, VALKEY_SEED_BYTES);
}

/* Makes a filter of valkey-bloom. */
static struct value *make_own(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
                              struct adding *adding)
{
    struct valkey_shape *shape = &adding->valkey;
    const char *error = NULL;
    struct valkey *valkey = NULL;
    if (adding->draws) shape->random = true;
    if (adding->draws && getrandom(shape->seed, sizeof shape->seed, 0) != sizeof shape->seed)
        error = "ERR the system gives no random numbers";
    if (error == NULL) valkey = valkey_new(shape, &error);
    if (valkey == NULL) {
        (void)RedisModule_ReplyWithError(ctx, error);
        return NULL;
    }
    struct value *value = value_new(TYPE_BLOOM);
    value->as_valkey = true;
    value->valkey = valkey;
    key_set(ctx, key, name, value);
    return value;
}

struct value *bf_make(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
                      struct adding *adding)
{
    size_t bytes;
    const char *text = RedisModule_StringPtrLen(name, &bytes);
    if (adding->own) return make_own(ctx, key, name, adding);
    struct value *value = value_new(TYPE_BLOOM);
    const int rc = make_bloom(value, RedisModule_GetSelectedDb(ctx), text, bytes, &adding->shape);
    return key_made(ctx, key, name, value, rc, "could not create filter");
}

/* Reads the options behind the capacity.  Replies and returns false if they are wrong. */
static bool take_growth(RedisModuleCtx *ctx, RedisModuleString **argv, int argc,
                        struct bloom_shape *shape)
{
    const int at = arg_find(argv, argc, 4, "EXPANSION");
    const bool non_scaling = arg_find(argv, argc, 4, "NONSCALING") != 0;
    long long growth = config.expansion;
    const char *error = NULL;
    if (at != 0 && at + 1 == argc)
        error = "ERR no expansion";
    else if (at != 0 && RedisModule_StringToLongLong(argv[at + 1], &growth) != REDISMODULE_OK)
        error = "ERR bad expansion";
    else if (at != 0 && growth != 0 && (non_scaling || config.expansion == 0))
        error = "Nonscaling filters cannot expand";
    else if (growth < 0 || growth > EXPANSION_MAX)
        error = "ERR expansion must be in the range [0, 32768]";
    if (error != NULL) {
        (void)RedisModule_ReplyWithError(ctx, error);
        return false;
    }
    shape->growth = (uint32_t)growth;
    shape->non_scaling = non_scaling || growth == 0;
    return true;
}

static bool take_shape(RedisModuleCtx *ctx, RedisModuleString **argv, int argc,
                       struct bloom_shape *shape)
{
    long long capacity;
    const char *error = NULL;
    if (RedisModule_StringToDouble(argv[2], &shape->rate) != REDISMODULE_OK)
        error = "ERR bad error rate";
    else if (!(shape->rate > 0 && shape->rate < 1))
        error = "ERR error rate must be in the range (0.000000, 1.000000)";
    else if (RedisModule_StringToLongLong(argv[3], &capacity) != REDISMODULE_OK)
        error = "ERR bad capacity";
    else if (capacity < 1 || capacity > CAPACITY_MAX)
        error = "ERR capacity must be in the range [1, 1073741824]";
    if (error != NULL) {
        (void)RedisModule_ReplyWithError(ctx, error);
        return false;
    }
    if (shape->rate > RATE_MAX) shape->rate = RATE_MAX;
    shape->capacity = (uint64_t)capacity;
    return take_growth(ctx, argv, argc, shape);
}

static int reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct adding adding;
    struct value *value;
    bf_default_adding(&adding);
    if (config.like == LIKE_VALKEY) {
        if (!valkey_take_reserve(ctx, argv, argc, &adding)) return REDISMODULE_OK;
    } else {
        if (argc < 4 || argc > 7) return RedisModule_WrongArity(ctx);
        if (!take_shape(ctx, argv, argc, &adding.shape)) return REDISMODULE_OK;
    }
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], READ_WRITE);
    const enum held held = key_look(key, TYPE_BLOOM, &value);
    if (held == HELD_OTHER) {
        (void)RedisModule_ReplyWithError(ctx, WRONG_TYPE);
    } else if (held != HELD_NONE) {
        (void)RedisModule_ReplyWithError(ctx, "ERR item exists");
    } else if ((value = bf_make(ctx, key, argv[1], &adding)) != NULL) {
        RedisModuleCtx *later = draft_hold_back(ctx, value);
        (void)RedisModule_ReplyWithSimpleString(later != NULL ? later : ctx, "OK");
        draft_held_back(later);
        if (value->valkey != NULL)
            valkey_replicate_made(ctx, argv[1], value->valkey, NULL, 0);
        else
            (void)RedisModule_ReplicateVerbatim(ctx);
    }
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

int bf_reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return making_run(ctx, argv, argc, reserve, bf_reserve, false);
}
