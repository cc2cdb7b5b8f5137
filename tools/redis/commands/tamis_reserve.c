/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tamis_reserve.c: TAMIS.RESERVE: a filter with what BF.RESERVE has no words for.
 *
 * What is drawn at random, the secret of hash set sip and SEED random, is drawn here and not by the
 * library, so that replicas and the AOF get the command with the value drawn.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "commands/command.h"
#include "server/config.h"
#include "value/store.h"

#define SECRET_DIGITS (2 * (size_t)TAMIS_SECRET_BYTES)

/* What a command asks for. */
struct wish {
    struct tamis_filter_spec spec;
    bool secret;     /* the command has one */
    bool if_missing; /* IFMISSING: the key may have the same filter already */
    bool any_seed;   /* SEED random */
};

/* A secret is 32 hexadecimal digits. */
static const char *take_secret(const RedisModuleString *arg, struct wish *wish)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t *secret = wish->spec.secret, any = 0;
    size_t bytes;
    const char *text = RedisModule_StringPtrLen(arg, &bytes);
    bool whole = bytes == SECRET_DIGITS;
    for (size_t i = 0; whole && i < bytes; i++) {
        const char *digit = memchr(digits, tolower((unsigned char)text[i]), sizeof digits - 1);
        whole = digit != NULL;
        if (whole) secret[i / 2] = (uint8_t)(secret[i / 2] << 4 | (digit - digits));
        any |= secret[i / 2];
    }
    wish->secret = whole && any != 0;
    return wish->secret ? NULL : "ERR a secret is 32 hexadecimal digits, not all 0";
}

static uint32_t at_most_32_bits(uint64_t number)
{
    return number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
}

/* An option whose value is a number of up to 64 bits. */
static const char *take_number(const RedisModuleString *option, const char *text,
                               struct tamis_filter_spec *spec)
{
    char *end;
    errno = 0;
    const uint64_t number = strtoull(text, &end, 10);
    const bool good = *text >= '0' && *text <= '9' && *end == '\0' && errno == 0;
    const char *error = NULL;
    if (arg_is(option, "SLICES"))
        spec->slices = at_most_32_bits(number);
    else if (arg_is(option, "SEED"))
        spec->seed = number;
    else if (arg_is(option, "BITS"))
        spec->m_bits = number;
    else if (arg_is(option, "HASHES"))
        spec->k = at_most_32_bits(number);
    else if (arg_is(option, "COUNTERBITS"))
        spec->counter_bits = at_most_32_bits(number);
    else if (arg_is(option, "WINDOWITEMS"))
        spec->window_items = number;
    else if (arg_is(option, "WINDOWNS"))
        spec->window_ns = (int64_t)(number & INT64_MAX);
    else
        error = "ERR unknown option; there are KIND, HASHSET, SECRET, SEED, BITS, HASHES, "
                "COUNTERBITS, WINDOW, WINDOWNS, WINDOWITEMS, WINDOWFROM, SLICES, ONFULL, PAGES, "
                "KEYRULE, IFMISSING and DURABLE";
    return error == NULL && !good ? "ERR bad number" : error;
}

/* Reads the value of an option into the spec; returns what is wrong with it, or NULL. */
static const char *take_wish_option(const RedisModuleString *option, const RedisModuleString *arg,
                                    struct wish *wish)
{
    struct tamis_filter_spec *spec = &wish->spec;
    const char *text = RedisModule_StringPtrLen(arg, NULL);
    double seconds;
    if (arg_is(option, "HASHSET")) {
        spec->hash_set = text;
        return NULL;
    }
    if (arg_is(option, "KEYRULE")) {
        spec->key_rule = text; /* the library judges it when it makes the filter */
        return NULL;
    }
    if (arg_is(option, "SECRET")) return take_secret(arg, wish);
    if (arg_is(option, "KIND")) {
        if (tamis_kind_from_name(text, &spec->kind) < 0) return "ERR bad kind";
        return tamis_kind_has(spec->kind, TAMIS_KIND_IS_STATIC)
                   ? "ERR a filter of kind fuse is built: TAMIS.LOAD or TAMIS.ATTACH take one"
                   : NULL;
    }
    if (arg_is(option, "WINDOW")) {
        if (RedisModule_StringToDouble(arg, &seconds) != REDISMODULE_OK || !(seconds > 0) ||
            seconds > (double)TAMIS_WINDOW_NS_MAX / 1e9)
            return "ERR bad window";
        spec->window_ns = (int64_t)(seconds * 1e9);
        return NULL;
    }
    if (arg_is(option, "WINDOWFROM")) {
        if (arg_is(arg, "first")) spec->flags |= TAMIS_FILTER_FROM_FIRST;
        return arg_is(arg, "first") || arg_is(arg, "last") ? NULL
                                                           : "ERR WINDOWFROM is first or last";
    }
    if (arg_is(option, "ONFULL")) {
        for (uint32_t i = TAMIS_ON_FULL_GROW; i <= TAMIS_ON_FULL_WARN; i++)
            if (arg_is(arg, tamis_on_full_name(i))) spec->on_full = i;
        return spec->on_full == 0 ? "ERR ONFULL is grow, refuse or warn" : NULL;
    }
    if (arg_is(option, "PAGES")) {
        for (spec->pages = TAMIS_PAGES_AUTO; tamis_pages_name(spec->pages) != NULL; spec->pages++)
            if (arg_is(arg, tamis_pages_name(spec->pages))) return NULL;
        return "ERR PAGES is auto, small or huge";
    }
    return take_number(option, text, spec);
}

static const char *take_wish(RedisModuleString **argv, int argc, struct wish *wish)
{
    struct tamis_filter_spec *spec = &wish->spec;
    long long capacity;
    const char *error = NULL;
    /* A rate or a capacity of 0 is left to the library.  It may be 0 only with BITS or WINDOWITEMS.
     */
    const bool needless = arg_find(argv, argc, 4, "BITS") || arg_find(argv, argc, 4, "WINDOWITEMS");
    if (RedisModule_StringToDouble(argv[2], &spec->fp_rate) != REDISMODULE_OK ||
        !(spec->fp_rate >= 0 && spec->fp_rate < 1) || (spec->fp_rate == 0 && !needless))
        return "ERR bad error rate";
    if (!arg_integer(argv[3], needless ? 0 : 1, INT64_MAX, &capacity)) return "ERR bad capacity";
    spec->capacity = (uint64_t)capacity;
    for (int i = 4; error == NULL && i < argc; i++) {
        if (arg_is(argv[i], "DURABLE")) {
            spec->flags |= TAMIS_FILTER_DURABLE;
            continue;
        }
        if (arg_is(argv[i], "IFMISSING")) {
            wish->if_missing = true;
            continue;
        }
        if (i + 1 == argc) return "ERR the last option has no value";
        const bool any_seed = arg_is(argv[i], "SEED") && arg_is(argv[i + 1], "random");
        wish->any_seed |= any_seed;
        if (!any_seed) error = take_wish_option(argv[i], argv[i + 1], wish);
        i++;
    }
    return error;
}

static bool spec_is_too_large(const struct tamis_filter_spec *spec)
{
    struct tamis_sizing sizing = {.size = sizeof sizing,
                                  .kind = spec->kind,
                                  .capacity = spec->m_bits == 0 ? spec->capacity : 0,
                                  .fp_rate = spec->m_bits == 0 ? spec->fp_rate : 0};
    const uint64_t most = config_max_bytes();
    if (spec->m_bits / 8 > most) return true;
    if (spec->capacity == 0) sizing.capacity = spec->window_items;
    return spec->m_bits == 0 && tamis_size(&sizing) == 0 && sizing.file_bytes > most;
}

static bool is_sip(const struct wish *wish)
{
    return wish->spec.hash_set != NULL && strcmp(wish->spec.hash_set, "sip") == 0;
}

static bool draw_bytes(void *to, size_t bytes)
{
    /* getrandom() gives so few bytes at once. */
    return getrandom(to, bytes, 0) == (ssize_t)bytes;
}

/* Draws what is left to chance. */
static bool draw_wish(struct wish *wish)
{
    bool drawn = true;
    while (drawn && wish->any_seed && wish->spec.seed == 0) {
        drawn = draw_bytes(&wish->spec.seed, sizeof wish->spec.seed);
        wish->spec.seed &= INT64_MAX; /* the command takes no greater number */
    }
    if (drawn && is_sip(wish) && !wish->secret)
        drawn = draw_bytes(wish->spec.secret, sizeof wish->spec.secret);
    return drawn;
}

/* Replicates the command, and behind it what was drawn: the last of two options holds. */
static void replicate_drawn(RedisModuleCtx *ctx, RedisModuleString **argv, int argc,
                            const struct wish *wish)
{
    char secret[SECRET_DIGITS + 1], seed[24];
    (void)snprintf(seed, sizeof seed, "%llu", (unsigned long long)wish->spec.seed);
    for (size_t i = 0; i < TAMIS_SECRET_BYTES; i++)
        (void)snprintf(secret + 2 * i, 3, "%02x", wish->spec.secret[i]);
    if (is_sip(wish))
        (void)RedisModule_Replicate(ctx, "TAMIS.RESERVE", "vcccc", argv + 1, (size_t)argc - 1,
                                    "SEED", seed, "SECRET", secret);
    else if (wish->any_seed)
        (void)RedisModule_Replicate(ctx, "TAMIS.RESERVE", "vcc", argv + 1, (size_t)argc - 1, "SEED",
                                    seed);
    else
        (void)RedisModule_ReplicateVerbatim(ctx);
}

/* Is the filter as the spec says?  A thread may give it its label just now; then the call makes
 * another one under the name of before, which is taken away. */
static int compare(const struct stored *stored, const struct tamis_filter_spec *spec)
{
    tamis_store *store = store_open();
    const int64_t created_at = tamis_filter_created_at(stored->filter);
    char called[TAMIS_NAME_MAX + 1];
    for (bool right = false; !right;) {
        tamis_filter *filter = NULL;
        int rc = tamis_filter_find_id(store, stored->id.bytes, called);
        if (rc != 1) return rc < 0 ? rc : TAMIS_EDROPPED;
        rc = tamis_filter_open_or_create(store, called, spec, &filter);
        if (rc < 0) return rc;
        right = tamis_filter_created_at(filter) == created_at;
        tamis_filter_release(filter);
        if (!right) rc = tamis_filter_drop(store, called);
        if (rc < 0 && rc != TAMIS_ENOTFOUND) return rc;
    }
    return 0;
}

/* IFMISSING, and the key has a filter: is it the one that is asked for? */
static void compare_with_wish(RedisModuleCtx *ctx, RedisModuleString *name,
                              struct tamis_filter_spec *spec, bool has_secret)
{
    RedisModuleKey *key;
    const struct value *value = key_open_stored(ctx, name, REDISMODULE_READ, tamis_reserve, &key);
    if (value == NULL) return;
    spec->flags &= ~(uint32_t)TAMIS_FILTER_OWNED; /* a filter of others is right too */
    if (!has_secret) memset(spec->secret, 0, sizeof spec->secret); /* any secret is right */
    if (compare(value->stored, spec) < 0)
        (void)reply_failure(ctx, "could not create filter");
    else
        (void)RedisModule_ReplyWithSimpleString(ctx, "OK");
    RedisModule_CloseKey(key);
}

/* ---- Making ---------------------------------------------------------------------------------- */

static int make_wish(struct making *making, tamis_store *store, const char *name)
{
    const struct wish *wish = making->context;
    return tamis_filter_create(store, name, &wish->spec, &making->filter);
}

static size_t text_bytes(const char *text)
{
    return text == NULL ? 0 : strlen(text) + 1;
}

/* A copy for a thread, with the name of the hash set and the key rule behind it. */
static struct wish *keep_wish(const struct wish *wish)
{
    const struct tamis_filter_spec *spec = &wish->spec;
    const size_t name_bytes = text_bytes(spec->hash_set), rule_bytes = text_bytes(spec->key_rule);
    struct wish *copy = RedisModule_Alloc(sizeof *copy + name_bytes + rule_bytes);
    char *texts = (char *)(copy + 1);
    *copy = *wish;
    if (name_bytes > 0) copy->spec.hash_set = memcpy(texts, spec->hash_set, name_bytes);
    if (rule_bytes > 0)
        copy->spec.key_rule = memcpy(texts + name_bytes, spec->key_rule, rule_bytes);
    return copy;
}

/* The key is empty. */
static void reserve_key(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString **argv,
                        int argc, struct wish *wish)
{
    struct making *making = making_of(ctx);
    if (making == NULL && !draw_wish(wish)) {
        (void)RedisModule_ReplyWithError(ctx, "ERR the system gives no random numbers");
        return;
    }
    if (making == NULL) {
        making = making_new(make_wish, keep_wish(wish), NULL);
        making->may_be_late = tamis_filter_check(config.store, "any", &wish->spec) == 0;
        making = making_begin(ctx, tamis_reserve, argv[1], making);
    }
    if (making == NULL) return;
    const struct wish *made = making->context; /* with what was drawn */
    wish->spec.seed = made->spec.seed;
    memcpy(wish->spec.secret, made->spec.secret, sizeof wish->spec.secret);
    if (making_take(ctx, key, argv[1], making, "could not create filter") != NULL) {
        (void)RedisModule_ReplyWithSimpleString(ctx, "OK");
        replicate_drawn(ctx, argv, argc, wish);
    }
}

int tamis_reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct wish wish = {.spec = {.size = sizeof wish.spec, .flags = TAMIS_FILTER_OWNED}};
    struct value *value;
    const char *error = take_wish(argv, argc, &wish);
    if (error != NULL) return RedisModule_ReplyWithError(ctx, error);
    if (spec_is_too_large(&wish.spec))
        return RedisModule_ReplyWithError(ctx,
                                          "ERR the filter would be larger than tamis.max-bytes");
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], READ_WRITE);
    const enum held held = key_look(key, TYPE_BLOOM, &value);
    if (held == HELD_NONE)
        reserve_key(ctx, key, argv, argc, &wish);
    else if (held == HELD_VALUE && wish.if_missing)
        compare_with_wish(ctx, argv[1], &wish.spec, wish.secret);
    else
        (void)RedisModule_ReplyWithError(ctx, held == HELD_OTHER ? WRONG_TYPE : "ERR item exists");
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}
