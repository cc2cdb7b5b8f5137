/* SPDX-License-Identifier: BSD-2-Clause */
/* config.c: see config.h. */
#include "server/config.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "server/args.h"
#include "server/limits.h"
#include "tamis.h"

struct config config;

#define STORE_NAME_ROOM 256

/* The rows of the table of numbers. */
enum {
    DEFAULT_CAPACITY,
    EXPANSION,
    MAX_BYTES,
    MEMORY_LIMIT,
    MAX_OPEN,
    SHARE_FROM,
    MEMORY_MAX,
    CF_CAPACITY,
    CF_BUCKET_SIZE,
    CF_MAX_ITERATIONS,
    CF_EXPANSION,
    CF_MAX_EXPANSIONS,
    NUMERICS
};

static struct numeric numerics[NUMERICS] = {
    [DEFAULT_CAPACITY] = {.name = "default-capacity",
                          .old = "bf-initial-size",
                          .older = "INITIAL_SIZE",
                          .bloom = "bloom-capacity",
                          .standard = 100,
                          .least = 1,
                          .most = CAPACITY_MAX,
                          .offset = offsetof(struct config, default_capacity)},
    [EXPANSION] = {.name = "expansion",
                   .old = "bf-expansion-factor",
                   .bloom = "bloom-expansion",
                   .standard = 2,
                   .most = EXPANSION_MAX,
                   .offset = offsetof(struct config, expansion)},
    [MAX_BYTES] = {.name = "max-bytes",
                   .standard = 4LL << 30,
                   .least = 1,
                   .most = INT64_MAX,
                   .flags = REDISMODULE_CONFIG_MEMORY,
                   .offset = offsetof(struct config, max_bytes)},
    [MEMORY_LIMIT] = {.name = "memory-usage-limit",
                      .bloom = "bloom-memory-usage-limit",
                      .standard = 128LL << 20,
                      .most = INT64_MAX,
                      .flags = REDISMODULE_CONFIG_MEMORY,
                      .offset = offsetof(struct config, memory_limit)},
    [MAX_OPEN] = {.name = "max-open", /* config_load() sets the standard */
                  .least = 1,
                  .most = 1 << 24,
                  .offset = offsetof(struct config, max_open)},
    [SHARE_FROM] = {.name = "share-from",
                    .standard = 64LL << 10,
                    .most = INT64_MAX,
                    .flags = REDISMODULE_CONFIG_MEMORY,
                    .offset = offsetof(struct config, share_from)},
    [MEMORY_MAX] = {.name = "memory-max",
                    .standard = 1LL << 20,
                    .most = INT64_MAX,
                    .flags = REDISMODULE_CONFIG_MEMORY,
                    .offset = offsetof(struct config, memory_max)},
    [CF_CAPACITY] = {.name = "cf-capacity",
                     .old = "cf-initial-size",
                     .standard = 1024,
                     .least = 2,
                     .most = CAPACITY_MAX,
                     .offset = offsetof(struct config, cf_capacity)},
    [CF_BUCKET_SIZE] = {.name = "cf-bucket-size",
                        .old = "cf-bucket-size",
                        .standard = 2,
                        .least = 1,
                        .most = 255,
                        .offset = offsetof(struct config, cf_bucket_size)},
    [CF_MAX_ITERATIONS] = {.name = "cf-max-iterations",
                           .old = "cf-max-iterations",
                           .standard = 20,
                           .least = 1,
                           .most = 65535,
                           .offset = offsetof(struct config, cf_max_iterations)},
    [CF_EXPANSION] = {.name = "cf-expansion",
                      .old = "cf-expansion-factor",
                      .standard = 1,
                      .most = EXPANSION_MAX,
                      .offset = offsetof(struct config, cf_expansion)},
    [CF_MAX_EXPANSIONS] = {.name = "cf-max-expansions",
                           .old = "cf-max-expansions",
                           .older = "CF_MAX_EXPANSIONS",
                           .standard = 32,
                           .least = 1,
                           .most = 65536,
                           .offset = offsetof(struct config, cf_max_expansions)},
};
static const char *rdb_names[] = {"content", "reference"};
static const int rdb_values[] = {RDB_CONTENT, RDB_REFERENCE};
static const char *orphans_names[] = {"auto", "yes", "no"};
static const int orphans_values[] = {ORPHANS_AUTO, ORPHANS_YES, ORPHANS_NO};
static const char *restore_names[] = {"store", "replace"};
static const int restore_values[] = {RESTORE_STORE, RESTORE_REPLACE};
static const char *kind_names[] = {"blocked", "bloom"};
static const int kind_values[] = {TAMIS_KIND_BLOCKED, TAMIS_KIND_BLOOM};
static const char *like_names[] = {"redisbloom", "valkey"};
static const int like_values[] = {LIKE_REDISBLOOM, LIKE_VALKEY};

/* A setting that is one of some words. */
static const struct choice {
    const char *name;
    const char **words;
    const int *values; /* of the words */
    int count;
    int *place;
} choices[] = {
    {"rdb", rdb_names, rdb_values, 2, &config.rdb},
    {"drop-orphans", orphans_names, orphans_values, 3, &config.drop_orphans},
    {"restore", restore_names, restore_values, 2, &config.restore},
    {"kind", kind_names, kind_values, 2, &config.kind},
    {"like", like_names, like_values, 2, &config.like},
};
#define CHOICES (sizeof choices / sizeof choices[0])

/* A setting that is yes or no.  Nothing is moved here to be defragmented: that setting of
 * valkey-bloom is taken at load, has no name of our own, and has no effect. */
static int ignored;
static const struct yes_no {
    const char *name, *bloom;
    int *place;
} yes_nos[] = {
    {.name = "exact", .place = &config.exact},
    {.name = "attach-only", .place = &config.attach_only},
    {.name = "use-random-seed", .bloom = "bloom-use-random-seed", .place = &config.random_seed},
    {.bloom = "bloom-defrag-enabled", .place = &ignored},
};
#define YES_NOS (sizeof yes_nos / sizeof yes_nos[0])

enum { DEFAULT_RATE, TIGHTENING, RATIOS };
/* A setting that is a ratio, by the names that it has here, there and there. */
static const struct ratio_setting {
    const char *name, *old, *older, *bloom;
    const char *standard;
    const char *outside; /* what valkey-bloom says of one that is out of its range */
    struct ratio *ratio;
} ratios[] = {
    [DEFAULT_RATE] = {.name = "default-rate",
                      .old = "bf-error-rate",
                      .older = "ERROR_RATE",
                      .bloom = "bloom-fp-rate",
                      .standard = "0.01",
                      .outside = "ERR (0 < error rate range < 1)",
                      .ratio = &config.default_rate},
    [TIGHTENING] = {.name = "tightening-ratio",
                    .bloom = "bloom-tightening-ratio",
                    .standard = "0.5",
                    .outside = "ERR (0 < tightening ratio range < 1)",
                    .ratio = &config.tightening},
};

const struct numeric *config_numbers(size_t *count)
{
    *count = NUMERICS;
    return numerics;
}

long long *config_place(const struct numeric *n)
{
    return (long long *)(void *)((char *)&config + n->offset);
}

bool config_has_limits(void)
{
    const int flags = RedisModule_GetContextFlags(NULL);
    /* Beside asynchronous loading, clients of a replica that may be written to have their limits.
     */
    const bool loads = (flags & REDISMODULE_CTX_FLAGS_LOADING) != 0 &&
                       (flags & REDISMODULE_CTX_FLAGS_ASYNC_LOADING) == 0;
    const int follower = REDISMODULE_CTX_FLAGS_SLAVE | REDISMODULE_CTX_FLAGS_READONLY;
    return !loads && (flags & follower) != follower;
}

uint64_t config_max_bytes(void)
{
    return config_has_limits() ? (uint64_t)config.max_bytes : INT64_MAX;
}

/* ---- Reading and setting --------------------------------------------------------------------- */

static bool set_ratio(struct ratio *ratio, const char *text, size_t bytes)
{
    double rate;
    RedisModuleString *s = RedisModule_CreateString(NULL, text, bytes);
    const bool good =
        RedisModule_StringToDouble(s, &rate) == REDISMODULE_OK && rate > 0 && rate < 1;
    RedisModule_FreeString(NULL, s);
    if (!good) return false;
    RedisModule_Free(ratio->text);
    ratio->text = RedisModule_Strdup(text);
    ratio->value = rate;
    return true;
}

/* The server reads the string and does not free it.  It is freed here when the server asks again.
 */
static RedisModuleString *get_string(const char *name, void *data)
{
    static RedisModuleString *told;
    (void)name;
    const char *text = *(char **)data;
    if (told != NULL) RedisModule_FreeString(NULL, told);
    told = RedisModule_CreateString(NULL, text, strlen(text));
    return told;
}

static RedisModuleString *get_ratio(const char *name, void *data)
{
    const struct ratio_setting *setting = data;
    return get_string(name, &setting->ratio->text);
}

static int set_ratio_config(const char *name, RedisModuleString *value, void *data,
                            RedisModuleString **err)
{
    const struct ratio_setting *setting = data;
    size_t bytes;
    const char *text = RedisModule_StringPtrLen(value, &bytes);
    if (set_ratio(setting->ratio, text, bytes)) return REDISMODULE_OK;
    if (config.like == LIKE_VALKEY)
        *err = RedisModule_CreateString(NULL, setting->outside, strlen(setting->outside));
    else
        *err = RedisModule_CreateStringPrintf(
            NULL, "Value for `%s` must be in the range (0.000000, 1.000000)", name);
    return REDISMODULE_ERR;
}

int config_set_rate(const char *name, RedisModuleString *value, void *data, RedisModuleString **err)
{
    (void)data;
    return set_ratio_config(name, value, (void *)(uintptr_t)&ratios[DEFAULT_RATE], err);
}

static int set_store_config(const char *name, RedisModuleString *value, void *data,
                            RedisModuleString **err)
{
    size_t bytes;
    const char *text = RedisModule_StringPtrLen(value, &bytes);
    (void)data;
    if (bytes == 0 || strlen(text) != bytes) {
        *err = RedisModule_CreateStringPrintf(NULL, "Invalid value for `%s`", name);
        return REDISMODULE_ERR;
    }
    RedisModule_Free(config.store);
    /* cppcheck-suppress danglingLifetime ; it is a copy */
    config.store = RedisModule_Strdup(text);
    return REDISMODULE_OK;
}

static long long get_numeric(const char *name, void *data)
{
    (void)name;
    return *(long long *)data;
}

static int set_numeric(const char *name, long long value, void *data, RedisModuleString **err)
{
    (void)name;
    (void)err;
    *(long long *)data = value;
    return REDISMODULE_OK;
}

static int get_int(const char *name, void *data)
{
    (void)name;
    return *(int *)data;
}

static int set_int(const char *name, int value, void *data, RedisModuleString **err)
{
    (void)name;
    (void)err;
    *(int *)data = value;
    return REDISMODULE_OK;
}

/* ---- Arguments of loadmodule ----------------------------------------------------------------- */

/* Does an argument name the setting, with "tamis." before it, "bf." or neither? */
static bool is_name(const char *argument, const char *name)
{
    if (name == NULL) return false;
    if (strncasecmp(argument, "tamis.", 6) == 0) argument += 6;
    if (strncasecmp(argument, "bf.", 3) == 0) argument += 3;
    return strcasecmp(argument, name) == 0;
}

static bool set_word(const char *text, const char *const *words, const int *values, int count,
                     int *to)
{
    for (int i = 0; i < count; i++) {
        if (strcasecmp(text, words[i]) != 0) continue;
        *to = values[i];
        return true;
    }
    return false;
}

/* Returns 1: set; 0: the value is wrong; -1: there is no such name. */
static int take_numeric(const char *name, const RedisModuleString *value)
{
    for (size_t i = 0; i < NUMERICS; i++) {
        const struct numeric *n = &numerics[i];
        long long number;
        if (!is_name(name, n->name) && !is_name(name, n->old) && !is_name(name, n->older) &&
            !is_name(name, n->bloom))
            continue;
        if (RedisModule_StringToLongLong(value, &number) != REDISMODULE_OK || number < n->least ||
            number > n->most)
            return 0;
        *config_place(n) = number;
        return 1;
    }
    return -1;
}

/* As take_numeric(). */
static int take_ratio(const char *name, const char *text, size_t bytes)
{
    for (size_t i = 0; i < RATIOS; i++) {
        const struct ratio_setting *r = &ratios[i];
        if (is_name(name, r->name) || is_name(name, r->old) || is_name(name, r->older) ||
            is_name(name, r->bloom))
            return set_ratio(r->ratio, text, bytes);
    }
    return -1;
}

/* As take_numeric(). */
static int take_choice(const char *name, const char *text)
{
    for (size_t i = 0; i < CHOICES; i++) {
        const struct choice *c = &choices[i];
        if (is_name(name, c->name)) return set_word(text, c->words, c->values, c->count, c->place);
    }
    return -1;
}

/* As take_numeric(). */
static int take_yes_no(const char *name, const char *text)
{
    static const char *const words[] = {"yes", "no"};
    static const int values[] = {1, 0};
    for (size_t i = 0; i < YES_NOS; i++)
        if (is_name(name, yes_nos[i].name) || is_name(name, yes_nos[i].bloom))
            return set_word(text, words, values, 2, yes_nos[i].place);
    return -1;
}

/* Clients of RedisBloom look for a module of that name. */
static const char *const module_names[] = {"tamis", "bf"};

static int take_module_name(const char *text)
{
    for (size_t i = 0; i < sizeof module_names / sizeof module_names[0]; i++) {
        if (strcmp(text, module_names[i]) != 0) continue;
        config.module_name = module_names[i];
        return 1;
    }
    return 0;
}

void config_name_module(RedisModuleString **argv, int argc)
{
    config.module_name = module_names[0];
    for (int i = 0; i + 1 < argc; i += 2)
        if (is_name(RedisModule_StringPtrLen(argv[i], NULL), "module-name"))
            (void)take_module_name(RedisModule_StringPtrLen(argv[i + 1], NULL));
}

static int take_argument(const char *name, const RedisModuleString *value)
{
    size_t bytes;
    const char *text = RedisModule_StringPtrLen(value, &bytes);
    if (is_name(name, "module-name")) return take_module_name(text);
    if (is_name(name, "store")) {
        RedisModule_Free(config.store);
        config.store = RedisModule_Strdup(text);
        return bytes > 0;
    }
    int taken = take_choice(name, text);
    if (taken < 0) taken = take_yes_no(name, text);
    if (taken < 0) taken = take_ratio(name, text, bytes);
    return taken < 0 ? take_numeric(name, value) : taken;
}

static int take_arguments(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    if (argc == 1 && *RedisModule_StringPtrLen(argv[0], NULL) == '\0') return REDISMODULE_OK;
    if (argc % 2 != 0) {
        RedisModule_Log(ctx, "warning",
                        "loadmodule: the arguments are pairs of a name and a value");
        return REDISMODULE_ERR;
    }
    for (int i = 0; i < argc; i += 2) {
        const char *name = RedisModule_StringPtrLen(argv[i], NULL);
        const int taken = take_argument(name, argv[i + 1]);
        if (taken > 0) continue;
        RedisModule_Log(ctx, "warning",
                        taken < 0 ? "loadmodule: there is no argument '%s'"
                                  : "loadmodule: '%s' cannot be '%s'",
                        name, RedisModule_StringPtrLen(argv[i + 1], NULL));
        return REDISMODULE_ERR;
    }
    return REDISMODULE_OK;
}

/* ---- CONFIG ---------------------------------------------------------------------------------- */

static bool has_old_names; /* the server itself: see config_keep_old_names() */

void config_keep_old_names(void)
{
    has_old_names = true;
}

static bool is_alias(const char *name, const char *old, const char *bloom)
{
    if (bloom != NULL && strncasecmp(name, "bf.", 3) == 0 && strcasecmp(name + 3, bloom) == 0)
        return true;
    return old != NULL && !has_old_names && strcasecmp(name, old) == 0;
}

const char *config_alias(const char *name)
{
    for (size_t i = 0; i < NUMERICS; i++)
        if (is_alias(name, numerics[i].old, numerics[i].bloom)) return numerics[i].name;
    for (size_t i = 0; i < RATIOS; i++)
        if (is_alias(name, ratios[i].old, ratios[i].bloom)) return ratios[i].name;
    for (size_t i = 0; i < YES_NOS; i++)
        if (is_alias(name, NULL, yes_nos[i].bloom)) return yes_nos[i].name;
    return NULL;
}

static int register_configs(RedisModuleCtx *ctx)
{
    int rc =
        RedisModule_RegisterStringConfig(ctx, "store", config.store, REDISMODULE_CONFIG_IMMUTABLE,
                                         get_string, set_store_config, NULL, &config.store);
    for (size_t i = 0; rc == 0 && i < RATIOS; i++)
        rc = RedisModule_RegisterStringConfig(ctx, ratios[i].name, ratios[i].ratio->text, 0,
                                              get_ratio, set_ratio_config, NULL,
                                              (void *)(uintptr_t)&ratios[i]);
    for (size_t i = 0; rc == 0 && i < CHOICES; i++) {
        const struct choice *c = &choices[i];
        rc = RedisModule_RegisterEnumConfig(ctx, c->name, *c->place, 0, c->words, c->values,
                                            c->count, get_int, set_int, NULL, c->place);
    }
    for (size_t i = 0; rc == 0 && i < YES_NOS; i++) {
        const struct yes_no *y = &yes_nos[i];
        if (y->name != NULL)
            rc = RedisModule_RegisterBoolConfig(ctx, y->name, *y->place, 0, get_int, set_int, NULL,
                                                y->place);
    }
    for (size_t i = 0; rc == 0 && i < NUMERICS; i++) {
        const struct numeric *n = &numerics[i];
        rc = RedisModule_RegisterNumericConfig(ctx, n->name, *config_place(n), n->flags, n->least,
                                               n->most, get_numeric, set_numeric, NULL,
                                               config_place(n));
    }
    return rc;
}

size_t config_of_server(RedisModuleCtx *ctx, const char *name, char *text, size_t room)
{
    size_t bytes = 0;
    RedisModuleCallReply *pair = NULL, *value = NULL;
    if (RedisModule_CallReplyArrayElement != NULL && RedisModule_CallReplyStringPtr != NULL)
        pair = RedisModule_Call(ctx, "CONFIG", "cc", "GET", name);
    if (pair != NULL) value = RedisModule_CallReplyArrayElement(pair, 1);
    const char *told = value != NULL ? RedisModule_CallReplyStringPtr(value, &bytes) : NULL;
    if (told == NULL || bytes >= room) bytes = 0;
    if (bytes > 0) memcpy(text, told, bytes);
    text[bytes] = '\0';
    if (pair != NULL) RedisModule_FreeCallReply(pair);
    return bytes;
}

/* Sets the store that a server has unless it is told another: `tamis` beside dump.rdb.  Servers may
 * have one directory and a dump of another name each; then their stores have these names. */
static void set_default_store(RedisModuleCtx *ctx)
{
    static const char usual[] = "dump.rdb", ending[] = ".rdb", dir[] = ".tamis";
    char name[STORE_NAME_ROOM], dump[STORE_NAME_ROOM - sizeof dir];
    size_t bytes = config_of_server(ctx, "dbfilename", dump, sizeof dump);
    if (bytes == 0 || strcmp(dump, usual) == 0) {
        (void)strcpy(name, "tamis");
    } else {
        const size_t tail = sizeof ending - 1;
        if (bytes > tail && memcmp(dump + bytes - tail, ending, tail) == 0) bytes -= tail;
        memcpy(name, dump, bytes);
        memcpy(name + bytes, dir, sizeof dir);
    }
    /* cppcheck-suppress danglingLifetime ; it is a copy */
    config.store = RedisModule_Strdup(name);
}

/* The standard of tamis.max-open. */
static void set_default_max_open(RedisModuleCtx *ctx)
{
    char clients[24];
    (void)config_of_server(ctx, "maxclients", clients, sizeof clients);
    numerics[MAX_OPEN].standard =
        limits_prepare(*clients != '\0' ? strtoll(clients, NULL, 10) : 10000);
}

int config_load(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    set_default_store(ctx);
    set_default_max_open(ctx);
    config.kind = TAMIS_KIND_BLOCKED;
    config.random_seed = 1;
    for (size_t i = 0; i < RATIOS; i++)
        (void)set_ratio(ratios[i].ratio, ratios[i].standard, strlen(ratios[i].standard));
    for (size_t i = 0; i < NUMERICS; i++)
        *config_place(&numerics[i]) = numerics[i].standard;
    if (take_arguments(ctx, argv, argc) != REDISMODULE_OK) return REDISMODULE_ERR;
    /* A server before 7.0 has no settings of modules: the arguments are all there is. */
    if (RedisModule_RegisterStringConfig == NULL || RedisModule_LoadConfigs == NULL)
        return REDISMODULE_OK;
    return register_configs(ctx);
}
