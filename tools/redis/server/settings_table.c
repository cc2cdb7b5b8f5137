/* SPDX-License-Identifier: BSD-2-Clause */
/* settings_table.c: see settings_table.h. */
#include "server/settings_table.h"

#include <string.h>
#include <strings.h>

#include "server/args.h"
#include "server/config.h"
#include "server/settings.h"
#include "tamis_types.h"

/* The values of words that stand for the numbers of an enum from 0 on. */
static const int from_0[] = {0, 1, 2};
static const char *const module_words[] = {"tamis", "bf"};
static const char *const rdb_words[] = {"content", "reference"};
static const char *const orphans_words[] = {"auto", "yes", "no"};
static const char *const restore_words[] = {"store", "replace"};
static const char *const like_words[] = {"redisbloom",
#ifdef TAMIS_MODULE_VALKEY
                                         "valkey"
#endif
};
static const char *const kind_words[] = {"blocked", "bloom"};
static const int kind_values[] = {TAMIS_KIND_BLOCKED, TAMIS_KIND_BLOOM};
static const char *const yes_no[] = {"no", "yes"};

#define FIELD(field) .offset = offsetof(struct config, field)
#define NUMBER(its_name, field, its_standard, its_least, its_most, ...)                            \
    {                                                                                              \
        .name = its_name, .sort = SORT_NUMBER, FIELD(field), .standard = its_standard,             \
        .least = its_least, .most = its_most, __VA_ARGS__                                          \
    }
#define PLAIN .flags = 0 /* nothing more to say of it */
#define BYTES .flags = REDISMODULE_CONFIG_MEMORY
#define WORD(its_name, field, its_standard, its_words, its_values, ...)                            \
    {                                                                                              \
        .name = its_name, .sort = SORT_WORD, FIELD(field), .standard = its_standard,               \
        .words = its_words, .count = sizeof its_words / sizeof *its_words, .values = its_values,   \
        __VA_ARGS__                                                                                \
    }
#define YES_NO(its_name, field, its_standard, ...)                                                 \
    {                                                                                              \
        .name = its_name, .sort = SORT_YES_NO, FIELD(field), .standard = its_standard,             \
        .words = yes_no, .count = 2, .values = from_0, __VA_ARGS__                                 \
    }
#define RATIO(its_name, field, its_standard, its_bloom, its_outside, ...)                          \
    {                                                                                              \
        .name = its_name, .sort = SORT_RATIO, FIELD(field), .standard = its_standard,              \
        .bloom = its_bloom, .outside = its_outside, __VA_ARGS__                                    \
    }

const struct setting settings[SETTINGS] = {
    WORD("module-name", module, "tamis", module_words, from_0, .at_load = true),
    {"store", SORT_TEXT, FIELD(store), .flags = REDISMODULE_CONFIG_IMMUTABLE},
    WORD("rdb", rdb, "content", rdb_words, from_0, PLAIN),
    WORD("drop-orphans", drop_orphans, "auto", orphans_words, from_0, PLAIN),
    WORD("restore", restore, "store", restore_words, from_0, PLAIN),
    WORD("kind", kind, "blocked", kind_words, kind_values, PLAIN),
    WORD("like", like, "redisbloom", like_words, from_0, PLAIN),
    YES_NO("exact", exact, "no", PLAIN),
    YES_NO("attach-only", attach_only, "no", PLAIN),
    YES_NO("use-random-seed", random_seed, "yes", .bloom = "bloom-use-random-seed"),
    YES_NO(NULL, ignored, "no", .bloom = "bloom-defrag-enabled",
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

void *setting_place(const struct setting *setting)
{
    return (char *)&config + setting->offset;
}

const char *settings_module_name(void)
{
    return module_words[config.module];
}

static void set_text(char **place, const char *text)
{
    RedisModule_Free(*place);
    *place = RedisModule_Strdup(text);
}

static bool read_number(const struct setting *setting, const RedisModuleString *value)
{
    long long number;
    if (!arg_integer(value, setting->least, setting->most, &number)) return false;
    *(long long *)setting_place(setting) = number;
    return true;
}

static bool read_ratio(struct ratio *ratio, const RedisModuleString *value)
{
    double number;
    if (RedisModule_StringToDouble(value, &number) != REDISMODULE_OK || !(number > 0 && number < 1))
        return false;
    set_text(&ratio->text, RedisModule_StringPtrLen(value, NULL));
    ratio->value = number;
    return true;
}

static bool read_word(const struct setting *setting, const RedisModuleString *value)
{
    int i = 0;
    while (i < setting->count && !arg_is(value, setting->words[i]))
        i++;
    if (i == setting->count) return false;
    *(int *)setting_place(setting) = setting->values[i];
    return true;
}

static bool read_text(char **place, const RedisModuleString *value)
{
    size_t bytes;
    const char *text = RedisModule_StringPtrLen(value, &bytes);
    if (bytes == 0 || strlen(text) != bytes) return false;
    set_text(place, text);
    return true;
}

bool setting_read(const struct setting *setting, const RedisModuleString *value)
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

RedisModuleString *setting_text(const struct setting *setting)
{
    void *place = setting_place(setting);
    if (setting->sort == SORT_NUMBER)
        return RedisModule_CreateStringPrintf(NULL, "%lld", *(long long *)place);
    return RedisModule_CreateStringPrintf(
        NULL, "%s", setting->sort == SORT_RATIO ? ((struct ratio *)place)->text : *(char **)place);
}
