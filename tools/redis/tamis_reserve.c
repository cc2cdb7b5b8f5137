/* SPDX-License-Identifier: BSD-2-Clause */
/* tamis_reserve.c: TAMIS.RESERVE: a filter with what BF.RESERVE has no words for. */
#include <string.h>

#include "command.h"
#include "config.h"
#include "keeper.h"

/* Reads the value of an option into the spec; returns what is wrong with it, or NULL. */
static const char *take_option(const RedisModuleString *option, const RedisModuleString *arg,
                               struct tamis_filter_spec *spec)
{
    const char *text = RedisModule_StringPtrLen(arg, NULL);
    long long number = 0;
    double seconds;
    if (arg_is(option, "HASHSET")) {
        spec->hash_set = text;
        return strcmp(text, "sip") == 0
                   ? "ERR hash set sip draws a secret, which replicas would not have"
                   : NULL;
    }
    if (arg_is(option, "KIND")) {
        if (tamis_kind_from_name(text, &spec->kind) < 0) return "ERR bad kind";
        return spec->kind == TAMIS_KIND_COUNTING || spec->kind == TAMIS_KIND_FUSE
                   ? "ERR a filter of BF.* is of kind blocked or bloom"
                   : NULL;
    }
    if (arg_is(option, "WINDOW")) {
        if (RedisModule_StringToDouble(arg, &seconds) != REDISMODULE_OK || !(seconds > 0) ||
            seconds > (double)TAMIS_WINDOW_NS_MAX / 1e9)
            return "ERR bad window";
        spec->window_ns = (int64_t)(seconds * 1e9);
        return NULL;
    }
    if (arg_is(option, "ONFULL")) {
        for (uint32_t i = TAMIS_ON_FULL_GROW; i <= TAMIS_ON_FULL_WARN; i++)
            if (arg_is(arg, tamis_on_full_name(i))) spec->on_full = i;
        return spec->on_full == 0 ? "ERR ONFULL is grow, refuse or warn" : NULL;
    }
    if (!arg_integer(arg, 0, INT64_MAX, &number)) return "ERR bad number";
    if (arg_is(option, "SLICES"))
        spec->slices = number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
    else if (arg_is(option, "SEED"))
        spec->seed = (uint64_t)number;
    else
        return "ERR unknown option; there are KIND, HASHSET, SEED, WINDOW, SLICES and ONFULL";
    return NULL;
}

static const char *take_spec(RedisModuleString **argv, int argc, struct tamis_filter_spec *spec)
{
    long long capacity;
    const char *error = NULL;
    if (RedisModule_StringToDouble(argv[2], &spec->fp_rate) != REDISMODULE_OK ||
        !(spec->fp_rate > 0 && spec->fp_rate < 1))
        return "ERR bad error rate";
    if (!arg_integer(argv[3], 1, INT64_MAX, &capacity)) return "ERR bad capacity";
    spec->capacity = (uint64_t)capacity;
    for (int i = 4; error == NULL && i < argc; i += 2)
        error = take_option(argv[i], argv[i + 1], spec);
    return error;
}

static bool is_too_large(const struct tamis_filter_spec *spec)
{
    struct tamis_sizing sizing = {.size = sizeof sizing,
                                  .kind = spec->kind,
                                  .capacity = spec->capacity,
                                  .fp_rate = spec->fp_rate};
    return tamis_size(&sizing) == 0 && sizing.file_bytes > (uint64_t)config.max_bytes;
}

static int create(void *context, tamis_store *store, const char *name, tamis_filter **filter)
{
    return tamis_filter_create(store, name, context, filter);
}

static void reserve(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
                    struct tamis_filter_spec *spec)
{
    size_t bytes;
    const char *text = RedisModule_StringPtrLen(name, &bytes);
    struct value *value = value_new(TYPE_BLOOM);
    if (keeper_make(value, RedisModule_GetSelectedDb(ctx), text, bytes, create, spec) < 0) {
        value_free(value);
        (void)reply_failure(ctx, "could not create filter");
        return;
    }
    key_set(ctx, key, name, value);
    (void)RedisModule_ReplyWithSimpleString(ctx, "OK");
    (void)RedisModule_ReplicateVerbatim(ctx);
}

int tamis_reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct tamis_filter_spec spec = {.size = sizeof spec, .flags = TAMIS_FILTER_OWNED};
    struct value *value;
    if (argc < 4 || argc % 2 != 0) return RedisModule_WrongArity(ctx);
    const char *error = take_spec(argv, argc, &spec);
    if (error != NULL) return RedisModule_ReplyWithError(ctx, error);
    if (is_too_large(&spec))
        return RedisModule_ReplyWithError(ctx,
                                          "ERR the filter would be larger than tamis.max-bytes");
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE);
    const enum held held = key_held(key, TYPE_BLOOM, &value);
    if (held != HELD_NONE)
        (void)RedisModule_ReplyWithError(ctx, held == HELD_OTHER ? WRONG_TYPE : "ERR item exists");
    else
        reserve(ctx, key, argv[1], &spec);
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}
