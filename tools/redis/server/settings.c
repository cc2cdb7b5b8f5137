/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * settings.c: see settings.h.
 *
 * The server has each setting as a text, so that loadmodule, CONFIG and redis.conf read it by one
 * function.
 *
 * RedisBloom's names of settings, bf-error-rate and so on, are ours by other names.  Redis 8 takes
 * names without the module's before them: there they are registered beside ours.  Other servers put
 * the module's name before each setting, so there module/filter.c turns `CONFIG SET bf-error-rate`
 * into `CONFIG SET tamis.default-rate`, and GET likewise; what GET answers bears our name.
 */
#include "server/settings.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "server/args.h"
#include "server/config.h"
#include "server/limits.h"

/* ---- The table ------------------------------------------------------------------------------- */

enum sort { SORT_NUMBER, SORT_RATIO, SORT_WORD, SORT_TEXT };

struct setting {
    const char *name; /* comes after "tamis."; NULL: it has none of ours */
    enum sort sort;
    size_t offset;         /* in struct config: long long, struct ratio, int or char * */
    const char *old;       /* what RedisBloom calls it; NULL: it does not have it */
    const char *older;     /* what it once called it, at load */
    const char *bloom;     /* what valkey-bloom calls it, after "bf." */
    const char *standard;  /* as the operator would write it; NULL: settings.c knows it */
    long long least, most; /* of a number */
    bool is_bytes;         /* of a number: it may have a unit behind it */
    const char *outside;   /* of a ratio: valkey-bloom's error for one that is not in its range */
    const char *words[4];  /* of a word, by the numbers of its enum; NULL ends them */
    unsigned flags;        /* REDISMODULE_CONFIG_* */
    bool at_load;          /* an argument of loadmodule, and nothing that CONFIG knows */
};

#define FIELD(field) .offset = offsetof(struct config, field)
#define NUMBER(its_name, field, its_standard, its_least, its_most, ...)                            \
    {                                                                                              \
        .name = its_name, .sort = SORT_NUMBER, FIELD(field), .standard = its_standard,             \
        .least = its_least, .most = its_most, __VA_ARGS__                                          \
    }
#define PLAIN .flags = 0 /* nothing more to say of it */
#define BYTES .is_bytes = true
#define WORD(its_name, field, its_standard, ...)                                                   \
    {                                                                                              \
        .name = its_name, .sort = SORT_WORD, FIELD(field), .standard = its_standard, __VA_ARGS__   \
    }
#define WORDS(...) .words = {__VA_ARGS__}
#define RATIO(its_name, field, its_standard, its_bloom, its_outside, ...)                          \
    {                                                                                              \
        .name = its_name, .sort = SORT_RATIO, FIELD(field), .standard = its_standard,              \
        .bloom = its_bloom, .outside = its_outside, __VA_ARGS__                                    \
    }

static const struct setting settings[] = {
    WORD("module-name", module, "tamis", WORDS("tamis", "bf"), .at_load = true),
    {"store", SORT_TEXT, FIELD(store), .flags = REDISMODULE_CONFIG_IMMUTABLE},
    WORD("rdb", rdb, "content", WORDS("content", "reference")),
    WORD("drop-orphans", drop_orphans, "auto", WORDS("auto", "yes", "no")),
    WORD("restore", restore, "store", WORDS("store", "replace")),
    WORD("kind", kind, "blocked", WORDS("blocked", "bloom")),
#ifdef TAMIS_MODULE_VALKEY
    WORD("like", like, "redisbloom", WORDS("redisbloom", "valkey")),
#else
    WORD("like", like, "redisbloom", WORDS("redisbloom")),
#endif
    WORD("exact", exact, "no", WORDS("no", "yes")),
    WORD("attach-only", attach_only, "no", WORDS("no", "yes")),
    WORD("use-random-seed", random_seed, "yes", WORDS("no", "yes"),
         .bloom = "bloom-use-random-seed"),
    WORD(NULL, ignored, "no", WORDS("no", "yes"), .bloom = "bloom-defrag-enabled",
         .at_load = true), /* nothing is moved to be defragmented */
    RATIO("default-rate", default_rate, "0.01", "bloom-fp-rate", "ERR (0 < error rate range < 1)",
          .old = "bf-error-rate", .older = "ERROR_RATE"),
    RATIO("tightening-ratio", tightening, "0.5", "bloom-tightening-ratio",
          "ERR (0 < tightening ratio range < 1)", PLAIN),
    NUMBER("default-capacity", default_capacity, "100", 1, CAPACITY_MAX, .bloom = "bloom-capacity",
           .old = "bf-initial-size", .older = "INITIAL_SIZE"),
    NUMBER("expansion", expansion, "2", 0, EXPANSION_MAX, .bloom = "bloom-expansion",
           .old = "bf-expansion-factor"),
    NUMBER("max-bytes", max_bytes, "4294967296", 1, INT64_MAX, BYTES),
    NUMBER("memory-usage-limit", memory_limit, "134217728", 0, INT64_MAX, BYTES,
           .bloom = "bloom-memory-usage-limit"),
    NUMBER("max-open", max_open, NULL, 1, 1 << 24, PLAIN),
    NUMBER("share-from", share_from, "65536", 0, INT64_MAX, BYTES),
    NUMBER("memory-max", memory_max, "1048576", 0, INT64_MAX, BYTES),
    NUMBER("cf-capacity", cf_capacity, "1024", 2, CAPACITY_MAX, .old = "cf-initial-size"),
    NUMBER("cf-bucket-size", cf_bucket_size, "2", 1, 255, .old = "cf-bucket-size"),
    NUMBER("cf-max-iterations", cf_max_iterations, "20", 1, 65535, .old = "cf-max-iterations"),
    NUMBER("cf-expansion", cf_expansion, "1", 0, EXPANSION_MAX, .old = "cf-expansion-factor"),
    NUMBER("cf-max-expansions", cf_max_expansions, "32", 1, 65536, .old = "cf-max-expansions",
           .older = "CF_MAX_EXPANSIONS"),
};
#define SETTINGS (sizeof settings / sizeof settings[0])

/* ---- One setting ----------------------------------------------------------------------------- */

/* The place of the setting in struct config. */
static void *setting_place(const struct setting *setting)
{
    return (char *)&config + setting->offset;
}

const char *settings_module_name(void)
{
    return settings[0].words[config.module];
}

static void replace_text(char **place, const char *text)
{
    RedisModule_Free(*place);
    *place = RedisModule_Strdup(text);
}

/* What a unit stands for, as in redis.conf; 0: there is no such unit. */
static long long bytes_of_unit(const char *unit)
{
    static const struct {
        const char *unit;
        long long bytes;
    } units[] = {{"b", 1},        {"k", 1000},       {"kb", 1 << 10}, {"m", 1000000},
                 {"mb", 1 << 20}, {"g", 1000000000}, {"gb", 1 << 30}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcasecmp(unit, units[i].unit) == 0) return units[i].bytes;
    return 0;
}

static bool read_number(const struct setting *setting, const RedisModuleString *value)
{
    long long number, unit = 1;
    const char *text = RedisModule_StringPtrLen(value, NULL);
    const size_t digits = strspn(text, "0123456789");
    if (setting->is_bytes && digits > 0 && text[digits] != '\0') {
        unit = bytes_of_unit(text + digits);
        number = strtoll(text, NULL, 10);
        if (unit == 0 || __builtin_mul_overflow(number, unit, &number)) return false;
    } else if (RedisModule_StringToLongLong(value, &number) != REDISMODULE_OK) {
        return false;
    }
    if (number < setting->least || number > setting->most) return false;
    *(long long *)setting_place(setting) = number;
    return true;
}

static bool read_ratio(struct ratio *ratio, const RedisModuleString *value)
{
    double number;
    if (RedisModule_StringToDouble(value, &number) != REDISMODULE_OK || !(number > 0 && number < 1))
        return false;
    replace_text(&ratio->text, RedisModule_StringPtrLen(value, NULL));
    ratio->value = number;
    return true;
}

static bool read_word(const struct setting *setting, const RedisModuleString *value)
{
    int i = 0;
    while (setting->words[i] != NULL && !arg_is(value, setting->words[i]))
        i++;
    if (setting->words[i] == NULL) return false;
    *(int *)setting_place(setting) = i;
    return true;
}

static bool read_text(char **place, const RedisModuleString *value)
{
    size_t bytes;
    const char *text = RedisModule_StringPtrLen(value, &bytes);
    if (bytes == 0 || strlen(text) != bytes) return false;
    replace_text(place, text);
    return true;
}

/* Sets it to what CONFIG SET or loadmodule say.  Returns false, and changes nothing, if that is
 * wrong. */
static bool setting_read(const struct setting *setting, const RedisModuleString *value)
{
    switch (setting->sort) {
    case SORT_NUMBER:
        return read_number(setting, value);
    case SORT_RATIO:
        return read_ratio(setting_place(setting), value);
    case SORT_TEXT:
        return read_text(setting_place(setting), value);
    default:
        return read_word(setting, value);
    }
}

/* What it is, as the operator would write it.  The caller frees it. */
static RedisModuleString *setting_text(const struct setting *setting)
{
    const void *place = setting_place(setting);
    if (setting->sort == SORT_NUMBER)
        return RedisModule_CreateStringPrintf(NULL, "%lld", *(const long long *)place);
    const char *text = setting->sort == SORT_RATIO  ? ((const struct ratio *)place)->text
                       : setting->sort == SORT_TEXT ? *(char *const *)place
                                                    : setting->words[*(const int *)place];
    return RedisModule_CreateStringPrintf(NULL, "%s", text);
}

#define STORE_NAME_ROOM 256
#define FIRST_WITH_OLD_NAMES 8 /* Redis; Valkey tells redis_version 7.2.4 */

static struct {
    RedisModuleString *told; /* to the server, which does not free it */
    bool has_old_names;      /* Redis 8: RedisBloom's names are registered */
    bool is_loading;         /* the server sets what redis.conf says, and other defaults */
    RedisModuleString *standards[SETTINGS]; /* of old names, as the server knows them */
} state;

/* ---- Arguments of loadmodule ----------------------------------------------------------------- */

/* Does an argument name the setting, with "tamis." before it, "bf." or neither? */
static bool is_name(const char *argument, const char *name)
{
    if (name == NULL) return false;
    if (strncasecmp(argument, "tamis.", 6) == 0) argument += 6;
    if (strncasecmp(argument, "bf.", 3) == 0) argument += 3;
    return strcasecmp(argument, name) == 0;
}

static const struct setting *find_setting(const char *name)
{
    for (const struct setting *s = settings; s < settings + SETTINGS; s++)
        if (is_name(name, s->name) || is_name(name, s->old) || is_name(name, s->older) ||
            is_name(name, s->bloom))
            return s;
    return NULL;
}

int settings_read(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    for (const struct setting *s = settings; s < settings + SETTINGS; s++) {
        if (s->standard == NULL) continue;
        RedisModuleString *standard =
            RedisModule_CreateString(NULL, s->standard, strlen(s->standard));
        (void)setting_read(s, standard);
        RedisModule_FreeString(NULL, standard);
    }
    if (argc == 1 && *RedisModule_StringPtrLen(argv[0], NULL) == '\0') return REDISMODULE_OK;
    if (argc % 2 != 0) {
        RedisModule_Log(ctx, "warning",
                        "loadmodule: the arguments are pairs of a name and a value");
        return REDISMODULE_ERR;
    }
    for (int i = 0; i < argc; i += 2) {
        const char *name = RedisModule_StringPtrLen(argv[i], NULL);
        const struct setting *setting = find_setting(name);
        if (setting != NULL && setting_read(setting, argv[i + 1])) continue;
        RedisModule_Log(ctx, "warning",
                        setting == NULL ? "loadmodule: there is no argument '%s'"
                                        : "loadmodule: '%s' cannot be '%s'",
                        name, RedisModule_StringPtrLen(argv[i + 1], NULL));
        return REDISMODULE_ERR;
    }
    return REDISMODULE_OK;
}

/* ---- Reading and setting --------------------------------------------------------------------- */

/* The string is freed when the server asks again. */
static RedisModuleString *get_text(const char *name, void *data)
{
    (void)name;
    if (state.told != NULL) RedisModule_FreeString(NULL, state.told);
    state.told = setting_text(data);
    return state.told;
}

static RedisModuleString *fault_of(const char *name, const struct setting *setting,
                                   const RedisModuleString *value)
{
    long long number;
    if (setting->sort == SORT_RATIO)
        return config.like == LIKE_VALKEY
                   ? RedisModule_CreateStringPrintf(NULL, "%s", setting->outside)
                   : RedisModule_CreateStringPrintf(
                         NULL, "Value for `%s` must be in the range (0.000000, 1.000000)", name);
    if (setting->sort == SORT_NUMBER &&
        RedisModule_StringToLongLong(value, &number) == REDISMODULE_OK)
        return RedisModule_CreateStringPrintf(NULL,
                                              "Value for `%s` must be in the range [%lld, %lld]",
                                              name, setting->least, setting->most);
    return RedisModule_CreateStringPrintf(NULL, "Invalid value for `%s`", name);
}

static int set_text(const char *name, RedisModuleString *value, void *data, RedisModuleString **err)
{
    if (setting_read(data, value)) return REDISMODULE_OK;
    *err = fault_of(name, data, value);
    return REDISMODULE_ERR;
}

/* A line of redis.conf that has our own name was read before; the default is not to undo it. */
static int set_old(const char *name, RedisModuleString *value, void *data, RedisModuleString **err)
{
    const RedisModuleString *standard = state.standards[(const struct setting *)data - settings];
    if (state.is_loading && strcmp(RedisModule_StringPtrLen(value, NULL),
                                   RedisModule_StringPtrLen(standard, NULL)) == 0)
        return REDISMODULE_OK;
    return set_text(name, value, data, err);
}

/* ---- CONFIG ---------------------------------------------------------------------------------- */

const char *settings_alias(const char *name)
{
    for (const struct setting *s = settings; s < settings + SETTINGS; s++) {
        if (s->bloom != NULL && strncasecmp(name, "bf.", 3) == 0 &&
            strcasecmp(name + 3, s->bloom) == 0)
            return s->name;
        if (s->old != NULL && !state.has_old_names && strcasecmp(name, s->old) == 0) return s->name;
    }
    return NULL;
}

static int register_text(RedisModuleCtx *ctx, const char *name, unsigned flags,
                         RedisModuleSetStringFunc *set, const struct setting *setting)
{
    void *data = (void *)(uintptr_t)setting;
    const char *standard = RedisModule_StringPtrLen(get_text(name, data), NULL);
    return RedisModule_RegisterStringConfig(ctx, name, standard, flags, get_text, set, NULL, data);
}

static int register_old_name(RedisModuleCtx *ctx, const struct setting *s)
{
    state.standards[s - settings] = setting_text(s);
    return register_text(ctx, s->old, REDISMODULE_CONFIG_UNPREFIXED, set_old, s);
}

static bool takes_any_name(RedisModuleCtx *ctx)
{
    char version[FIELD_ROOM];
    return server_field(ctx, "server", "redis_version", version) &&
           strtoul(version, NULL, 10) >= FIRST_WITH_OLD_NAMES;
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

/* What was no argument, and has a standard that the server says. */
static void set_defaults(RedisModuleCtx *ctx)
{
    char clients[24];
    (void)config_of_server(ctx, "maxclients", clients, sizeof clients);
    const long long most = limits_prepare(*clients != '\0' ? strtoll(clients, NULL, 10) : 10000);
    if (config.max_open == 0) config.max_open = most;
    if (config.store == NULL) set_default_store(ctx);
}

int settings_load(RedisModuleCtx *ctx)
{
    const bool olds = takes_any_name(ctx);
    int rc = REDISMODULE_OK;
    set_defaults(ctx);
    for (const struct setting *s = settings; rc == REDISMODULE_OK && s < settings + SETTINGS; s++) {
        if (!s->at_load) rc = register_text(ctx, s->name, s->flags, set_text, s);
        if (rc == REDISMODULE_OK && olds && s->old != NULL) rc = register_old_name(ctx, s);
    }
    if (rc != REDISMODULE_OK) return rc;
    state.has_old_names = olds;
    state.is_loading = true;
    rc = RedisModule_LoadConfigs(ctx);
    state.is_loading = false;
    return rc;
}
