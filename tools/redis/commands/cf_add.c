/* SPDX-License-Identifier: BSD-2-Clause */
/* cf_add.c: CF.RESERVE, CF.ADD, CF.ADDNX, CF.INSERT and CF.INSERTNX. */
#include <ctype.h>
#include <stddef.h>
#include <stdio.h>

#include "commands/command.h"
#include "server/config.h"
#include "value/exact.h"

#define FULL "Filter is full"

static struct value *make_cuckoo_key(RedisModuleCtx *ctx, RedisModuleKey *key,
                                     RedisModuleString *name, const struct cuckoo *cuckoo)
{
    struct exact *exact;
    const int rc = exact_make(cuckoo, &exact);
    if (rc < 0) {
        (void)RedisModule_ReplyWithError(ctx, "ERR Insufficient memory to create filter");
        return NULL;
    }
    struct value *value = value_new(TYPE_CUCKOO);
    value_settle(value, HOME_CUCKOO, exact);
    key_set(ctx, key, name, value);
    return value;
}

/* ---- CF.RESERVE ------------------------------------------------------------------------------ */

struct reserving {
    long long capacity, max_iterations, bucket_size, expansion;
    char error[80]; /* what is wrong with an option */
};

/* The options of CF.RESERVE, in the order in which RedisBloom finds fault with them. */
static const struct reserve_option {
    const char *word;
    long long least, most;
    size_t offset; /* in struct reserving */
} reserve_options[] = {
    {"MAXITERATIONS", 1, 65535, offsetof(struct reserving, max_iterations)},
    {"BUCKETSIZE", 1, 255, offsetof(struct reserving, bucket_size)},
    {"EXPANSION", 0, EXPANSION_MAX, offsetof(struct reserving, expansion)},
};

/* Reads an option, if it is given.  Returns what is wrong with it, or NULL. */
static const char *take_reserve_option(RedisModuleString **argv, int argc,
                                       const struct reserve_option *option, struct reserving *r)
{
    long long *number = (long long *)(void *)((char *)r + option->offset);
    const int at = arg_find(argv, argc - 1, 3, option->word);
    if (at == 0 || arg_integer(argv[at + 1], option->least, option->most, number)) return NULL;
    if (RedisModule_StringToLongLong(argv[at + 1], number) != REDISMODULE_OK)
        (void)snprintf(r->error, sizeof r->error, "Couldn't parse %s", option->word);
    else
        (void)snprintf(r->error, sizeof r->error, "%s: value must be in the range [%lld, %lld]",
                       option->word, option->least, option->most);
    return r->error;
}

static const char *take_reserve_options(RedisModuleString **argv, int argc, struct reserving *r)
{
    const size_t count = sizeof reserve_options / sizeof reserve_options[0];
    const char *error = NULL;
    if (RedisModule_StringToLongLong(argv[2], &r->capacity) != REDISMODULE_OK)
        return "Bad capacity";
    for (size_t i = 0; error == NULL && i < count; i++)
        error = take_reserve_option(argv, argc, &reserve_options[i], r);
    if (error == NULL && (r->capacity < 2 * r->bucket_size || r->capacity > CAPACITY_MAX))
        error = "Capacity must be in the range [2 * BUCKETSIZE, 1073741824]";
    return error;
}

int cf_reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct reserving r = {.max_iterations = config.cf_max_iterations,
                          .bucket_size = config.cf_bucket_size,
                          .expansion = config.cf_expansion};
    struct cuckoo cuckoo;
    if (argc < 3 || argc % 2 == 0) return RedisModule_WrongArity(ctx);
    const char *error = take_reserve_options(argv, argc, &r);
    if (error != NULL) return RedisModule_ReplyWithError(ctx, error);
    RedisModuleKey *key = key_open_free(ctx, argv[1], TYPE_CUCKOO);
    if (key == NULL) return REDISMODULE_OK;
    cuckoo_init(&cuckoo, (uint64_t)r.capacity, (uint32_t)r.bucket_size, (uint32_t)r.max_iterations,
                (uint32_t)r.expansion);
    if (make_cuckoo_key(ctx, key, argv[1], &cuckoo) != NULL) {
        (void)RedisModule_ReplyWithSimpleString(ctx, "OK");
        (void)RedisModule_ReplicateVerbatim(ctx);
    }
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

/* ---- Adding ---------------------------------------------------------------------------------- */

/* Opens or makes the filter that items are added to.  Replies, and returns NULL, where that cannot
 * be. */
static struct exact *open_to_add(RedisModuleCtx *ctx, RedisModuleString *name, uint64_t capacity,
                                 bool no_create, RedisModuleKey **key)
{
    struct cuckoo cuckoo;
    struct value *value;
    *key = RedisModule_OpenKey(ctx, name, READ_WRITE);
    const enum held held = key_held(*key, TYPE_CUCKOO, &value);
    if (held == HELD_NONE ? no_create : held != HELD_VALUE) {
        (void)RedisModule_ReplyWithError(ctx, held_error(held));
    } else if (held == HELD_NONE) {
        cuckoo_init(&cuckoo, capacity, (uint32_t)config.cf_bucket_size,
                    (uint32_t)config.cf_max_iterations, (uint32_t)config.cf_expansion);
        value = make_cuckoo_key(ctx, *key, name, &cuckoo);
    }
    if (value != NULL && value->cuckoo->cuckoo.filters >= config.cf_max_expansions) {
        (void)RedisModule_ReplyWithError(ctx, "Maximum expansions reached");
        value = NULL;
    }
    if (value == NULL) RedisModule_CloseKey(*key);
    return value == NULL ? NULL : value->cuckoo;
}

/* Adds an item.  Returns 1: added; 0: it was there; TAMIS_EFULL: no place; another error. */
static int add_cuckoo_item(struct exact *exact, const RedisModuleString *item, bool only_new)
{
    size_t bytes;
    const char *data = RedisModule_StringPtrLen(item, &bytes);
    if (only_new && exact_contains(exact, data, bytes)) return 0;
    const int rc = exact_add(exact, data, bytes);
    if (rc < 0) return rc;
    counts.added++;
    counts.news++; /* exact_add() does not tell whether the item was there */
    return 1;
}

static int add_single(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, bool only_new)
{
    RedisModuleKey *key;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    struct exact *value = open_to_add(ctx, argv[1], (uint64_t)config.cf_capacity, false, &key);
    if (value == NULL) return REDISMODULE_OK;
    const int rc = add_cuckoo_item(value, argv[2], only_new);
    RedisModule_CloseKey(key);
    if (rc == TAMIS_EFULL) return RedisModule_ReplyWithError(ctx, FULL);
    if (rc == TAMIS_ENOMEM) return RedisModule_ReplyWithError(ctx, "ERR Insufficient memory");
    if (rc < 0) return reply_failure(ctx, "the item cannot be added");
    (void)RedisModule_ReplyWithBool(ctx, rc);
    return RedisModule_ReplicateVerbatim(ctx);
}

int cf_add(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return add_single(ctx, argv, argc, false);
}

int cf_addnx(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return add_single(ctx, argv, argc, true);
}

/* ---- CF.INSERT ------------------------------------------------------------------------------- */

struct inserting {
    long long capacity;
    bool no_create;
    int first;
};

/* Reads the options, which RedisBloom knows by their first letters.  Returns what is wrong (""
 * stands for the number of arguments), or NULL. */
static const char *take_insert(RedisModuleString **argv, int argc, struct inserting *to)
{
    for (int i = 2; i < argc && to->first == 0; i++) {
        const char *text = RedisModule_StringPtrLen(argv[i], NULL);
        const int letter = tolower((unsigned char)*text);
        if (letter == 'i') {
            to->first = i + 1;
        } else if (letter == 'n') {
            to->no_create = true;
        } else if (letter != 'c') {
            return "Unknown argument received";
        } else if (++i == argc) {
            return "";
        } else if (RedisModule_StringToLongLong(argv[i], &to->capacity) != REDISMODULE_OK) {
            return "Bad capacity";
        } else if (to->capacity < 2 * config.cf_bucket_size || to->capacity > CAPACITY_MAX) {
            return "Capacity must be in the range [cf-bucket-size * 2, 1073741824]";
        }
    }
    return to->first == 0 || to->first == argc ? "" : NULL;
}

static int insert_items(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, bool only_new)
{
    struct inserting to = {.capacity = config.cf_capacity};
    RedisModuleKey *key;
    if (argc < 4) return RedisModule_WrongArity(ctx);
    const char *error = take_insert(argv, argc, &to);
    if (error != NULL && *error == '\0') return RedisModule_WrongArity(ctx);
    if (error != NULL) return RedisModule_ReplyWithError(ctx, error);
    struct exact *value = open_to_add(ctx, argv[1], (uint64_t)to.capacity, to.no_create, &key);
    if (value == NULL) return REDISMODULE_OK;
    const bool booleans = !only_new && reply_is_resp3(ctx);
    (void)RedisModule_ReplyWithArray(ctx, argc - to.first);
    for (int i = to.first; i < argc; i++) {
        const int rc = add_cuckoo_item(value, argv[i], only_new);
        if (booleans)
            (void)RedisModule_ReplyWithBool(ctx, rc > 0);
        else
            (void)RedisModule_ReplyWithLongLong(ctx, rc < 0 ? -1 : rc);
    }
    RedisModule_CloseKey(key);
    return RedisModule_ReplicateVerbatim(ctx);
}

int cf_insert(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return insert_items(ctx, argv, argc, false);
}

int cf_insertnx(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return insert_items(ctx, argv, argc, true);
}
