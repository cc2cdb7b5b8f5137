/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bf_valkey.c: BF.RESERVE and BF.INSERT with the words and the errors of valkey-bloom, and BF.LOAD.
 *
 * With tamis.like valkey all commands are read so; without it, BF.INSERT is if it has one of the
 * words that RedisBloom does not know.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "commands/bf_parts.h"
#include "server/config.h"
#include "valkey/guest_parts.h"
#include "valkey/valkey_blob.h"

#define BAD_RATE "ERR bad error rate"
#define RATE_OUTSIDE "ERR (0 < error rate range < 1)"
#define BAD_EXPANSION "ERR bad expansion"

/* ---- Numbers --------------------------------------------------------------------------------- */

/* The text of a number, as valkey-bloom reads it: it may have a sign and zeros before it, and
 * neither blanks nor 0x.  NULL: it is none. */
static const char *number_text(const RedisModuleString *arg)
{
    size_t bytes;
    const char *text = RedisModule_StringPtrLen(arg, &bytes);
    if (bytes == 0 || strlen(text) != bytes || isspace((unsigned char)text[0]) ||
        strpbrk(text, "xX") != NULL)
        return NULL;
    /* cppcheck-suppress returnDanglingLifetime ; the text is the argument's */
    return text;
}

static bool read_integer(const RedisModuleString *arg, long long *number)
{
    const char *text = number_text(arg);
    char *end;
    if (text == NULL) return false;
    errno = 0;
    *number = strtoll(text, &end, 10);
    return end != text && *end == '\0' && errno == 0;
}

/* Reads a number between 0 and 1, both excluded.  Returns what is wrong with it, or NULL. */
static const char *take_ratio(const RedisModuleString *arg, double *ratio, const char *bad,
                              const char *outside)
{
    const char *text = number_text(arg);
    char *end;
    if (text == NULL) return bad;
    *ratio = strtod(text, &end);
    if (end == text || *end != '\0') return bad;
    return *ratio > 0 && *ratio < 1 ? NULL : outside;
}

static const char *take_keys(const RedisModuleString *arg, int64_t *keys)
{
    long long number;
    if (!read_integer(arg, &number) || number < 0) return VALKEY_BAD_CAPACITY;
    *keys = number;
    return number == 0 ? "ERR (capacity should be larger than 0)" : NULL;
}

/* ---- Words ----------------------------------------------------------------------------------- */

/* A command, as far as it was read. */
struct reading {
    struct adding *adding;
    int64_t scale_to; /* VALIDATESCALETO; 0: it is not there */
};

static const char *take_error(struct reading *r, const RedisModuleString *arg)
{
    return take_ratio(arg, &r->adding->valkey.rate, BAD_RATE, RATE_OUTSIDE);
}

static const char *take_tightening(struct reading *r, const RedisModuleString *arg)
{
    r->adding->own = true;
    return take_ratio(arg, &r->adding->valkey.tightening, "ERR bad tightening ratio",
                      "ERR (0 < tightening ratio range < 1)");
}

static const char *take_capacity(struct reading *r, const RedisModuleString *arg)
{
    return take_keys(arg, &r->adding->valkey.capacity);
}

static const char *take_scale_to(struct reading *r, const RedisModuleString *arg)
{
    return take_keys(arg, &r->scale_to);
}

static const char *take_seed(struct reading *r, const RedisModuleString *arg)
{
    struct valkey_shape *shape = &r->adding->valkey;
    size_t bytes;
    const char *seed = RedisModule_StringPtrLen(arg, &bytes);
    if (bytes != VALKEY_SEED_BYTES) return "ERR invalid seed";
    memcpy(shape->seed, seed, VALKEY_SEED_BYTES);
    shape->random = memcmp(seed, valkey_fixed_seed, VALKEY_SEED_BYTES) != 0;
    r->adding->draws = false;
    r->adding->own = true;
    return NULL;
}

static const char *take_expansion(struct reading *r, const RedisModuleString *arg)
{
    long long number;
    if (!read_integer(arg, &number) || number < 1 || number > UINT32_MAX) return BAD_EXPANSION;
    r->adding->valkey.expansion = (uint32_t)number;
    return NULL;
}

static const char *take_no_create(struct reading *r, const RedisModuleString *arg)
{
    (void)arg;
    r->adding->no_create = true;
    return NULL;
}

static const char *take_non_scaling(struct reading *r, const RedisModuleString *arg)
{
    (void)arg;
    r->adding->valkey.expansion = 0;
    return NULL;
}

static const struct word {
    const char *word;
    const char *(*take)(struct reading *r, const RedisModuleString *arg);
    bool has_value, is_new; /* RedisBloom does not have it */
} words[] = {
    {"ERROR", take_error, true, false},
    {"CAPACITY", take_capacity, true, false},
    {"EXPANSION", take_expansion, true, false},
    {"NOCREATE", take_no_create, false, false},
    {"NONSCALING", take_non_scaling, false, false},
    {"TIGHTENING", take_tightening, true, true},
    {"SEED", take_seed, true, true},
    {"VALIDATESCALETO", take_scale_to, true, true},
};

static const struct word *word_of(const RedisModuleString *arg)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (arg_is(arg, words[i].word)) return &words[i];
    return NULL;
}

static bool has_word(const RedisModuleString *arg)
{
    const struct word *word = word_of(arg);
    return word != NULL && word->is_new;
}

/* Replies with an error and returns false, if there is one. */
static bool is_good(RedisModuleCtx *ctx, const char *error)
{
    if (error != NULL) (void)RedisModule_ReplyWithError(ctx, error);
    return error == NULL;
}

/* What was read, for a filter of the store too. */
static void settle_shape(struct adding *adding)
{
    const struct valkey_shape *shape = &adding->valkey;
    adding->shape = (struct bloom_shape){.rate = shape->rate,
                                         .capacity = (uint64_t)shape->capacity,
                                         .growth = shape->expansion,
                                         .non_scaling = shape->expansion == 0};
}

static int reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct adding adding;
    struct reading r = {.adding = &adding};
    if (argc < 4 || argc > 6) return RedisModule_WrongArity(ctx);
    bf_default_adding(&adding);
    const char *error = take_error(&r, argv[2]);
    if (error == NULL) error = take_capacity(&r, argv[3]);
    if (error == NULL && argc == 5)
        error = arg_is(argv[4], "NONSCALING") ? take_non_scaling(&r, NULL) : "ERROR";
    if (error == NULL && argc == 6)
        error = arg_is(argv[4], "EXPANSION") ? take_expansion(&r, argv[5]) : "ERROR";
    settle_shape(&adding);
    return is_good(ctx, error) ? bf_reserve_key(ctx, argv, &adding) : REDISMODULE_OK;
}

/* Can the filter grow as far as it is to? */
static const char *check_growth(const struct reading *r)
{
    const char *error = NULL;
    if (r->scale_to == 0) return NULL;
    if (r->adding->valkey.expansion == 0)
        return "ERR cannot use NONSCALING and VALIDATESCALETO options together";
    if (config_has_limits()) (void)valkey_most_keys(&r->adding->valkey, r->scale_to, &error);
    return error;
}

static int insert(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct adding adding;
    struct reading r = {.adding = &adding};
    const char *error = NULL;
    int i = 2;
    bool complete = true;
    if (argc < 2) return RedisModule_WrongArity(ctx);
    bf_default_adding(&adding);
    adding.again = bf_insert;
    for (; error == NULL && i < argc && !arg_is(argv[i], "ITEMS"); i++) {
        const struct word *word = word_of(argv[i]);
        if (word == NULL)
            error = "ERR unknown argument received";
        else if (!word->has_value)
            error = word->take(&r, NULL);
        else if (i + 1 < argc)
            error = word->take(&r, argv[++i]);
        else
            complete = false;
    }
    if (error == NULL && (!complete || i == argc - 1)) return RedisModule_WrongArity(ctx);
    adding.first = i < argc ? i + 1 : argc;
    if (error == NULL) error = check_growth(&r);
    settle_shape(&adding);
    return is_good(ctx, error) ? bf_add_items(ctx, argv, argc, &adding, false) : REDISMODULE_OK;
}

/* ---- Replicas -------------------------------------------------------------------------------- */

/* The words that make a filter, for its replicas: key, shape and seed, and ITEMS if there are any.
 */
enum { MADE_WORDS = 12 };

static RedisModuleString *text_of(const char *text)
{
    return RedisModule_CreateString(NULL, text, strlen(text));
}

static RedisModuleString *text_of_ratio(double ratio)
{
    char text[64];
    (void)snprintf(text, sizeof text, "%.17g", ratio);
    /* cppcheck-suppress returnDanglingLifetime ; it is a copy */
    return text_of(text);
}

/* Tells replicas that the key `name` got this filter, with these items. */
static void replicate_made(RedisModuleCtx *ctx, RedisModuleString *name,
                           const struct valkey *valkey, RedisModuleString **items, int count)
{
    const struct valkey_shape *shape = &valkey->shape;
    RedisModuleString *made[MADE_WORDS];
    char capacity[32], expansion[32];
    size_t n = 0;
    (void)snprintf(capacity, sizeof capacity, "%lld", (long long)shape->capacity);
    (void)snprintf(expansion, sizeof expansion, "%u", shape->expansion);
    made[n++] = text_of("CAPACITY");
    made[n++] = text_of(capacity);
    made[n++] = text_of("ERROR");
    made[n++] = text_of_ratio(shape->rate);
    made[n++] = text_of("TIGHTENING");
    made[n++] = text_of_ratio(shape->tightening);
    made[n++] = text_of("SEED");
    made[n++] = RedisModule_CreateString(NULL, (const char *)shape->seed, VALKEY_SEED_BYTES);
    made[n++] = text_of(shape->expansion == 0 ? "NONSCALING" : "EXPANSION");
    if (shape->expansion != 0) made[n++] = text_of(expansion);
    if (count > 0) made[n++] = text_of("ITEMS");
    (void)RedisModule_Replicate(ctx, "BF.INSERT", "svv", name, made, n, items, (size_t)count);
    while (n > 0)
        RedisModule_FreeString(NULL, made[--n]);
}

static void tell_made(RedisModuleCtx *ctx, RedisModuleString *name, const struct valkey *valkey)
{
    replicate_made(ctx, name, valkey, NULL, 0);
}

/* ---- Making and adding ----------------------------------------------------------------------- */

static struct value *make(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
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
    value_settle(value, HOME_VALKEY, valkey);
    key_set(ctx, key, name, value);
    return value;
}

/* Adds to a filter of valkey-bloom, until it refuses an item.  Replicas get a filter that was made
 * with all that it was made from, and else the command, if an item was new. */
static void add(RedisModuleCtx *ctx, const struct value *value, RedisModuleString **argv,
                RedisModuleString **items, int count, bool single, bool made)
{
    uint64_t news = 0;
    int told = 0, rc = 0;
    if (!single) (void)RedisModule_ReplyWithArray(ctx, REDISMODULE_POSTPONED_LEN);
    for (; rc >= 0 && told < count; told++) {
        size_t bytes;
        const char *error, *item = RedisModule_StringPtrLen(items[told], &bytes);
        rc = valkey_add(value->valkey, item, bytes, &error);
        if (rc < 0)
            (void)RedisModule_ReplyWithError(ctx, error);
        else
            (void)reply_yes_no(ctx, rc);
        news += rc == 1;
    }
    if (!single) RedisModule_ReplySetArrayLength(ctx, told);
    if (made)
        replicate_made(ctx, argv[1], value->valkey, items, count);
    else if (news > 0)
        (void)RedisModule_ReplicateVerbatim(ctx);
    bf_count_added(ctx, argv[1], (size_t)told, news);
}

/* ---- BF.LOAD --------------------------------------------------------------------------------- */

static bool load_blob(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
                      const RedisModuleString *blob)
{
    size_t bytes;
    const char *error, *data = RedisModule_StringPtrLen(blob, &bytes);
    struct valkey *valkey = valkey_from_blob(data, bytes, &error);
    if (valkey == NULL) return is_good(ctx, error);
    if (valkey_is_too_large(valkey_size_bytes(valkey))) {
        valkey_free(valkey);
        return is_good(ctx, VALKEY_TOO_LARGE);
    }
    struct value *value = value_new(TYPE_BLOOM);
    value->as_valkey = true;
    value_settle(value, HOME_VALKEY, valkey);
    key_set(ctx, key, name, value);
    (void)RedisModule_ReplicateVerbatim(ctx);
    (void)RedisModule_ReplyWithSimpleString(ctx, "OK");
    return true;
}

int bf_load(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct value *value;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], READ_WRITE);
    const enum held held = key_look(key, TYPE_BLOOM, &value);
    if (held == HELD_NONE)
        (void)load_blob(ctx, key, argv[1], argv[2]);
    else
        (void)RedisModule_ReplyWithError(
            ctx, held == HELD_OTHER ? WRONG_TYPE : "BUSYKEY Target key name already exists.");
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

/* ---- The table ------------------------------------------------------------------------------- */

static struct valkey_shape shape_of(const struct valkey *valkey)
{
    return valkey->shape;
}

static bool layer_of(const struct valkey *valkey, uint32_t i, struct told *told)
{
    if (i >= valkey->count) return false;
    const struct valkey_layer *layer = &valkey->layers[i];
    *told = (struct told){.bytes = layer->bytes,
                          .bits = layer->bytes * 8,
                          .capacity = (uint64_t)layer->capacity,
                          .items = (uint64_t)layer->items,
                          .hashes = layer->hashes,
                          .rate = valkey->shape.rate};
    for (; i > 0; i--)
        told->rate *= valkey->shape.tightening;
    return true;
}

const struct guest valkey_guest = {.fixed_seed = valkey_fixed_seed,
                                   .free = valkey_free,
                                   .copy = valkey_copy,
                                   .contains = valkey_contains,
                                   .items = valkey_items,
                                   .size_bytes = valkey_size_bytes,
                                   .load = valkey_load,
                                   .save = valkey_save,
                                   .emit = valkey_emit,
                                   .digest = valkey_digest,
                                   .shape = shape_of,
                                   .most_keys = valkey_most_keys,
                                   .layer = layer_of,
                                   .reserve = reserve,
                                   .insert = insert,
                                   .has_word = has_word,
                                   .make = make,
                                   .add = add,
                                   .tell_made = tell_made};
