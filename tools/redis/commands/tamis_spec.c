/* SPDX-License-Identifier: BSD-2-Clause */
/* tamis_spec.c: TAMIS.SPEC: the words of TAMIS.RESERVE that make a filter like this one. */
#include <inttypes.h>
#include <stdio.h>

#include "commands/command.h"

struct words {
    RedisModuleCtx *ctx;
    long count;
};

static void word(struct words *words, const char *text)
{
    (void)RedisModule_ReplyWithCString(words->ctx, text);
    words->count++;
}

static void number(struct words *words, const char *name, uint64_t value)
{
    char text[24];
    if (name != NULL && value == 0) return; /* the usual */
    if (name != NULL) word(words, name);
    (void)snprintf(text, sizeof text, "%" PRIu64, value);
    word(words, text);
}

static void tell_secret(struct words *words, const uint8_t *secret)
{
    char digits[2 * TAMIS_SECRET_BYTES + 1];
    uint8_t any = 0;
    for (size_t i = 0; i < TAMIS_SECRET_BYTES; i++) {
        (void)snprintf(digits + 2 * i, 3, "%02x", secret[i]);
        any |= secret[i];
    }
    if (any == 0) return;
    word(words, "SECRET");
    word(words, digits);
}

static void tell(struct words *words, const struct tamis_filter_spec *spec)
{
    char text[64];
    (void)snprintf(text, sizeof text, "%.17g", spec->fp_rate);
    word(words, text);
    number(words, NULL, spec->capacity);
    word(words, "KIND");
    word(words, tamis_kind_name(spec->kind));
    word(words, "HASHSET");
    word(words, spec->hash_set);
    tell_secret(words, spec->secret);
    number(words, "SEED", spec->seed);
    number(words, "BITS", spec->m_bits);
    number(words, "HASHES", spec->k);
    number(words, "COUNTERBITS", spec->counter_bits);
    number(words, "WINDOWNS", (uint64_t)spec->window_ns);
    number(words, "WINDOWITEMS", spec->window_items);
    number(words, "SLICES", spec->slices);
    if (spec->flags & TAMIS_FILTER_FROM_FIRST) {
        word(words, "WINDOWFROM");
        word(words, "first");
    }
    if (spec->on_full != 0) {
        word(words, "ONFULL");
        word(words, tamis_on_full_name(spec->on_full));
    }
    if (spec->flags & TAMIS_FILTER_DURABLE) word(words, "DURABLE");
}

/* The secret of hash set sip is told too: the filters can be merged. */
int tamis_spec(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    char hash_set[TAMIS_HASH_SET_NAME_MAX + 1];
    struct tamis_filter_spec spec = {.size = sizeof spec};
    struct words words = {.ctx = ctx};
    RedisModuleKey *key;
    if (argc != 2) return RedisModule_WrongArity(ctx);
    const struct value *value = key_open(ctx, argv[1], TYPE_ANY, REDISMODULE_READ, &key);
    if (value == NULL) return REDISMODULE_OK;
    if (tamis_filter_like(value->filter, &spec, hash_set) < 0) {
        (void)reply_failure(ctx, TOLD);
    } else {
        (void)RedisModule_ReplyWithArray(ctx, REDISMODULE_POSTPONED_LEN);
        tell(&words, &spec);
        RedisModule_ReplySetArrayLength(ctx, words.count);
    }
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}
