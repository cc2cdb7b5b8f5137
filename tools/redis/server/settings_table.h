/* SPDX-License-Identifier: BSD-2-Clause */
/* settings_table.h: the table of settings, each by all the names that it has had. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "server/redis_api.h"

enum sort { SORT_NUMBER, SORT_RATIO, SORT_WORD, SORT_YES_NO, SORT_TEXT };

struct setting {
    const char *name; /* comes after "tamis."; NULL: it has none of ours */
    enum sort sort;
    size_t offset;         /* in struct config: long long, struct ratio, int or char * */
    const char *old;       /* what RedisBloom calls it; NULL: it does not have it */
    const char *older;     /* what it once called it, at load */
    const char *bloom;     /* what valkey-bloom calls it, after "bf." */
    const char *standard;  /* as the operator would write it; NULL: settings.c knows it */
    long long least, most; /* of a number */
    const char *outside;   /* of a ratio: valkey-bloom's error for one that is not in its range */
    const char *const *words; /* of a word, and how many */
    int count;
    const int *values; /* of the words */
    unsigned flags;    /* REDISMODULE_CONFIG_* */
    bool at_load;      /* an argument of loadmodule, and nothing that CONFIG knows */
};

#define SETTINGS 25
extern const struct setting settings[SETTINGS];

/* The place of the setting in struct config. */
void *setting_place(const struct setting *setting);
/* Sets it to what CONFIG SET or loadmodule say.  Returns false, and changes nothing, if that is
 * wrong. */
bool setting_read(const struct setting *setting, const RedisModuleString *value);
/* What it is, as the operator would write it: not of words.  The caller frees it. */
RedisModuleString *setting_text(const struct setting *setting);
