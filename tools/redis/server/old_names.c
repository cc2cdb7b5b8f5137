/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * old_names.c: see old_names.h.
 *
 * On Redis 8 they are registered beside ours, for the same numbers, as RedisBloom registers them:
 * as texts.  Other servers put the module's name before each setting, so there commands/aliases.c
 * turns `CONFIG SET bf-error-rate` into `CONFIG SET tamis.default-rate`, and GET likewise; what GET
 * answers bears our name.
 */
#include "server/old_names.h"

#include <stdlib.h>
#include <string.h>

#include "server/config.h"
#include "server/field.h"

#define FIRST_WITH_OLD_NAMES 8 /* Redis; Valkey tells redis_version 7.2.4 */
#define OLD_MAX 16

/* One of them.  `number`: NULL for the rate. */
struct old_name {
    const char *name, *own;
    const struct numeric *number;
    char *standard; /* what the server thinks is its default */
};

static struct old_name olds[OLD_MAX];
static size_t count;
static bool loading; /* the server sets what redis.conf says, and defaults of what it does not */

static void collect(void)
{
    size_t numbers;
    const struct numeric *n = config_numbers(&numbers);
    count = 0;
    olds[count++] = (struct old_name){.name = "bf-error-rate", .own = "default-rate"};
    for (size_t i = 0; i < numbers && count < OLD_MAX; i++)
        if (n[i].old != NULL)
            olds[count++] = (struct old_name){.name = n[i].old, .own = n[i].name, .number = &n[i]};
}

/* ---- Redis 8 --------------------------------------------------------------------------------- */

static RedisModuleString *make_text(const struct old_name *old)
{
    return old->number == NULL
               ? RedisModule_CreateStringPrintf(NULL, "%s", config.default_rate.text)
               : RedisModule_CreateStringPrintf(NULL, "%lld", *config_place(old->number));
}

/* The server copies the string.  It is freed here when the server asks again. */
static RedisModuleString *get_old(const char *name, void *data)
{
    static RedisModuleString *told;
    (void)name;
    if (told != NULL) RedisModule_FreeString(NULL, told);
    told = make_text(data);
    return told;
}

static int set_old(const char *name, RedisModuleString *value, void *data, RedisModuleString **err)
{
    const struct old_name *old = data;
    long long number;
    /* A line of redis.conf that has our own name was read before; the default is not to undo it. */
    if (loading && strcmp(RedisModule_StringPtrLen(value, NULL), old->standard) == 0)
        return REDISMODULE_OK;
    if (old->number == NULL) return config_set_rate(name, value, NULL, err);
    if (RedisModule_StringToLongLong(value, &number) != REDISMODULE_OK) {
        *err = RedisModule_CreateStringPrintf(NULL, "Invalid value for `%s`", name);
        return REDISMODULE_ERR;
    }
    if (number < old->number->least || number > old->number->most) {
        *err =
            RedisModule_CreateStringPrintf(NULL, "Value for `%s` must be in the range [%lld, %lld]",
                                           name, old->number->least, old->number->most);
        return REDISMODULE_ERR;
    }
    *config_place(old->number) = number;
    return REDISMODULE_OK;
}

static bool takes_any_name(RedisModuleCtx *ctx)
{
    char version[FIELD_ROOM];
    return server_field(ctx, "server", "redis_version", version) &&
           strtoul(version, NULL, 10) >= FIRST_WITH_OLD_NAMES;
}

static int register_olds(RedisModuleCtx *ctx)
{
    for (size_t i = 0; i < count; i++) {
        RedisModuleString *text = make_text(&olds[i]);
        RedisModule_Free(olds[i].standard);
        olds[i].standard = RedisModule_Strdup(RedisModule_StringPtrLen(text, NULL));
        RedisModule_FreeString(NULL, text);
        if (RedisModule_RegisterStringConfig(ctx, olds[i].name, olds[i].standard,
                                             REDISMODULE_CONFIG_UNPREFIXED, get_old, set_old, NULL,
                                             &olds[i]) != REDISMODULE_OK)
            return REDISMODULE_ERR;
    }
    return REDISMODULE_OK;
}

/* ---- All of it ------------------------------------------------------------------------------- */

int old_names_load(RedisModuleCtx *ctx)
{
    /* A server before 7.0 has no settings of modules. */
    if (RedisModule_RegisterStringConfig == NULL || RedisModule_LoadConfigs == NULL)
        return REDISMODULE_OK;
    collect();
    const bool any_name = takes_any_name(ctx);
    if (any_name && register_olds(ctx) != REDISMODULE_OK) return REDISMODULE_ERR;
    if (any_name) config_keep_old_names();
    loading = true;
    const int rc = RedisModule_LoadConfigs(ctx);
    loading = false;
    return rc;
}
