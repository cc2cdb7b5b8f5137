/* SPDX-License-Identifier: BSD-2-Clause */
/* fake_settings.c: settings and commands of a server whose redis.conf has no line of the module:
 * each gets its default (fake_server.h). */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fake_parts.h"
#include "fuzz.h"

RedisModuleString *fake_CreateStringPrintf(RedisModuleCtx *ctx, const char *format, ...)
{
    char text[4096];
    va_list values;
    va_start(values, format);
    (void)vsnprintf(text, sizeof text, format, values);
    va_end(values);
    return fake_CreateString(ctx, text, strlen(text));
}

int fake_RegisterStringConfig(RedisModuleCtx *ctx, const char *name, const char *value,
                              unsigned flags, RedisModuleGetStringFunc *get,
                              RedisModuleSetStringFunc *set, RedisModuleApplyFunc *apply,
                              void *data)
{
    RedisModuleString *error = NULL, *text = fake_CreateString(NULL, value, strlen(value));
    (void)ctx;
    (void)flags;
    (void)get;
    (void)apply;
    const int rc = set(name, text, data, &error);
    fake_FreeString(NULL, text);
    return rc;
}

/* CONFIG GET, and other commands of the server: it answers nothing. */
RedisModuleCallReply *fake_Call(RedisModuleCtx *ctx, const char *command, const char *format, ...)
{
    (void)ctx;
    (void)command;
    (void)format;
    return NULL;
}

RedisModuleCommand *fake_GetCommand(RedisModuleCtx *ctx, const char *name)
{
    static char command;
    (void)ctx;
    (void)name;
    return (RedisModuleCommand *)(void *)&command;
}
