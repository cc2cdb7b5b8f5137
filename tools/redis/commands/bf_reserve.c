/* SPDX-License-Identifier: BSD-2-Clause */
/* bf_reserve.c: BF.RESERVE, and how a key of BF.* comes to be. */
#include <string.h>

#include "commands/bf_parts.h"
#include "home/promote.h"
#include "server/config.h"
#include "value/store.h"

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
    if (guest != NULL) memcpy(adding->valkey.seed, guest->fixed_seed, VALKEY_SEED_BYTES);
}

void bf_born(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name, struct value *value)
{
    size_t bytes;
    const char *text = RedisModule_StringPtrLen(name, &bytes);
    const int db = RedisModule_GetSelectedDb(ctx);
    struct id id;
    const bool bound =
        bind_take(db, text, bytes, &id) && bind_to_store(value, &id, db, text, bytes);
    key_set(ctx, key, name, value);
    if (!bound) promote_if_large(value, db, text, bytes);
}

static struct value *fail_make(RedisModuleCtx *ctx, int rc)
{
    if (rc == TAMIS_ENOMEM)
        (void)RedisModule_ReplyWithError(ctx, config.like == LIKE_VALKEY ? VALKEY_TOO_LARGE
                                                                         : VALKEY_NO_MEMORY);
    else
        (void)reply_failure(ctx, "could not create filter");
    return NULL;
}

struct value *bf_make(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
                      struct adding *adding)
{
    struct memory *memory;
    if (adding->own) return guest->make(ctx, key, name, adding);
    const int rc = memory_make(&adding->shape, config.exact != 0, &memory);
    if (rc < 0) return fail_make(ctx, rc);
    struct value *value = value_new(TYPE_BLOOM);
    value->exact = config.exact != 0;
    value->expansion = adding->shape.non_scaling ? 0 : adding->shape.growth;
    value_settle(value, HOME_MEMORY, memory);
    bf_born(ctx, key, name, value);
    return value;
}

/* ---- Large ones ------------------------------------------------------------------------------ */

/* Begins to make a filter in the store, if it is so large, and its client can wait.  Replies an
 * error.  Returns whether the command is over. */
static bool reserve_large(RedisModuleCtx *ctx, RedisModuleString *name,
                          const struct bloom_shape *shape)
{
    struct memory *memory;
    unsigned char head[HEAD_ROOM];
    if (!args_can_wait(ctx)) return false;
    const int rc = memory_make(shape, config.exact != 0, &memory);
    if (rc < 0) {
        (void)fail_make(ctx, rc);
        return true;
    }
    const bool is_large = memory_data_bytes(memory) > (uint64_t)config.share_from;
    if (is_large) {
        struct stream stream = {.is_head = true, .exact = memory->exact};
        (void)stream_append(&stream, head, (size_t)memory_head(memory, shape->growth, head));
        (void)making_begin(ctx, bf_reserve, name, making_of_stream(&stream));
    }
    memory_release(memory);
    return is_large;
}

/* The key is empty.  Replies but for OK, which it returns true for. */
static struct value *reserve_key(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
                                 struct adding *adding)
{
    struct making *making = making_of(ctx);
    if (making == NULL && !adding->own && reserve_large(ctx, name, &adding->shape)) return NULL;
    if (making == NULL) return bf_make(ctx, key, name, adding);
    struct value *value = making_take(ctx, key, name, making, "could not create filter");
    if (value == NULL) return NULL;
    value->exact = config.exact != 0;
    value->expansion = adding->shape.non_scaling ? 0 : adding->shape.growth;
    return value;
}

/* ---- BF.RESERVE ------------------------------------------------------------------------------ */

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

int bf_reserve_key(RedisModuleCtx *ctx, RedisModuleString **argv, struct adding *adding)
{
    RedisModuleKey *key = key_open_free(ctx, argv[1], TYPE_BLOOM);
    if (key == NULL) return REDISMODULE_OK;
    const struct value *value = reserve_key(ctx, key, argv[1], adding);
    if (value != NULL) {
        (void)RedisModule_ReplyWithSimpleString(ctx, "OK");
        if (value->home == HOME_VALKEY)
            guest->tell_made(ctx, argv[1], value->valkey);
        else
            (void)RedisModule_ReplicateVerbatim(ctx);
    }
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

int bf_reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct adding adding;
    if (config.like == LIKE_VALKEY) return guest->reserve(ctx, argv, argc);
    if (argc < 4 || argc > 7) return RedisModule_WrongArity(ctx);
    bf_default_adding(&adding);
    if (!take_shape(ctx, argv, argc, &adding.shape)) return REDISMODULE_OK;
    return bf_reserve_key(ctx, argv, &adding);
}
