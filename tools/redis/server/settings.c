/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * settings.c: see settings.h.
 *
 * RedisBloom's names of settings, bf-error-rate and so on, are ours by other names.  Redis 8 takes
 * names without the module's before them: there they are registered beside ours, as RedisBloom
 * registers them, as texts.  Other servers put the module's name before each setting, so there
 * module/filter.c turns `CONFIG SET bf-error-rate` into `CONFIG SET tamis.default-rate`, and GET
 * likewise; what GET answers bears our name.
 */
#include "server/settings.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "server/config.h"
#include "server/field.h"
#include "server/limits.h"
#include "server/settings_table.h"

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

static long long get_number(const char *name, void *data)
{
    (void)name;
    return *(long long *)setting_place(data);
}

static int set_number(const char *name, long long value, void *data, RedisModuleString **err)
{
    (void)name;
    (void)err;
    *(long long *)setting_place(data) = value;
    return REDISMODULE_OK;
}

static int get_word(const char *name, void *data)
{
    (void)name;
    return *(int *)setting_place(data);
}

static int set_word(const char *name, int value, void *data, RedisModuleString **err)
{
    (void)name;
    (void)err;
    *(int *)setting_place(data) = value;
    return REDISMODULE_OK;
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

static int register_setting(RedisModuleCtx *ctx, const struct setting *s)
{
    void *data = (void *)(uintptr_t)s, *place = setting_place(s);
    switch (s->sort) {
    case SORT_NUMBER:
        return RedisModule_RegisterNumericConfig(ctx, s->name, *(long long *)place, s->flags,
                                                 s->least, s->most, get_number, set_number, NULL,
                                                 data);
    case SORT_YES_NO:
        return RedisModule_RegisterBoolConfig(ctx, s->name, *(int *)place, s->flags, get_word,
                                              set_word, NULL, data);
    case SORT_WORD:
        return RedisModule_RegisterEnumConfig(ctx, s->name, *(int *)place, s->flags,
                                              (const char **)(uintptr_t)s->words, s->values,
                                              s->count, get_word, set_word, NULL, data);
    default:
        return register_text(ctx, s->name, s->flags, set_text, s);
    }
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
        if (!s->at_load) rc = register_setting(ctx, s);
        if (rc == REDISMODULE_OK && olds && s->old != NULL) rc = register_old_name(ctx, s);
    }
    if (rc != REDISMODULE_OK) return rc;
    state.has_old_names = olds;
    state.is_loading = true;
    rc = RedisModule_LoadConfigs(ctx);
    state.is_loading = false;
    return rc;
}
