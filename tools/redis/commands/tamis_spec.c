/* SPDX-License-Identifier: BSD-2-Clause */
/* tamis_spec.c: TAMIS.SPEC: the words of TAMIS.RESERVE that make a filter like this one. */
#include <inttypes.h>
#include <stdio.h>

#include "commands/command.h"

struct words {
    RedisModuleCtx *ctx;
    long count;
};

static void say_word(struct words *words, const char *text)
{
    (void)RedisModule_ReplyWithCString(words->ctx, text);
    words->count++;
}

static void say_number(struct words *words, const char *name, uint64_t value)
{
    char text[24];
    if (name != NULL && value == 0) return; /* the library takes 0 where the option is not given */
    if (name != NULL) say_word(words, name);
    (void)snprintf(text, sizeof text, "%" PRIu64, value);
    say_word(words, text);
}

static void say_secret(struct words *words, const uint8_t *secret)
{
    char digits[2 * TAMIS_SECRET_BYTES + 1];
    uint8_t any = 0;
    for (size_t i = 0; i < TAMIS_SECRET_BYTES; i++) {
        (void)snprintf(digits + 2 * i, 3, "%02x", secret[i]);
        any |= secret[i];
    }
    if (any == 0) return;
    say_word(words, "SECRET");
    say_word(words, digits);
}

static void say_spec(struct words *words, const struct tamis_filter_spec *spec)
{
    char text[64];
    (void)snprintf(text, sizeof text, "%.17g", spec->fp_rate);
    say_word(words, text);
    say_number(words, NULL, spec->capacity);
    say_word(words, "KIND");
    say_word(words, tamis_kind_name(spec->kind));
    say_word(words, "HASHSET");
    say_word(words, spec->hash_set);
    say_secret(words, spec->secret);
    say_number(words, "SEED", spec->seed);
    say_number(words, "BITS", spec->m_bits);
    say_number(words, "HASHES", spec->k);
    say_number(words, "COUNTERBITS", spec->counter_bits);
    say_number(words, "WINDOWNS", (uint64_t)spec->window_ns);
    say_number(words, "WINDOWITEMS", spec->window_items);
    say_number(words, "SLICES", spec->slices);
    if (spec->flags & TAMIS_FILTER_FROM_FIRST) {
        say_word(words, "WINDOWFROM");
        say_word(words, "first");
    }
    if (spec->on_full != 0) {
        say_word(words, "ONFULL");
        say_word(words, tamis_on_full_name(spec->on_full));
    }
    if (spec->pages != TAMIS_PAGES_AUTO) {
        say_word(words, "PAGES");
        say_word(words, tamis_pages_name(spec->pages));
    }
    if (spec->key_rule != NULL) {
        say_word(words, "KEYRULE");
        say_word(words, spec->key_rule);
    }
    if (spec->flags & TAMIS_FILTER_DURABLE) say_word(words, "DURABLE");
}

/* The secret of hash set sip is told too, so that the two filters can be merged. */
int tamis_spec(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    char hash_set[TAMIS_HASH_SET_NAME_MAX + 1];
    struct tamis_filter_spec spec = {.size = sizeof spec};
    struct words words = {.ctx = ctx};
    RedisModuleKey *key;
    if (argc != 2) return RedisModule_WrongArity(ctx);
    const struct value *value = key_open_stored(ctx, argv[1], REDISMODULE_READ, tamis_spec, &key);
    if (value == NULL) return REDISMODULE_OK;
    if (tamis_filter_like(value->stored->filter, &spec, hash_set) < 0) {
        (void)reply_failure(ctx, TOLD);
    } else {
        (void)RedisModule_ReplyWithArray(ctx, REDISMODULE_POSTPONED_LEN);
        say_spec(&words, &spec);
        RedisModule_ReplySetArrayLength(ctx, words.count);
    }
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}
