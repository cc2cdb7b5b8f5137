/* SPDX-License-Identifier: BSD-2-Clause */
/* keys.h: the keys of the server that have a filter, as commands open and make them. */
#pragma once

#include "keys/make.h"

/* What a key holds, for a command of one type, or of any. */
enum held { HELD_NONE, HELD_OTHER, HELD_VALUE };
enum held key_held(RedisModuleKey *key, enum type type, struct value **value);
#define READ_WRITE (REDISMODULE_READ | REDISMODULE_WRITE)
/* Opens the filter of a key of that type; replies and returns NULL if it has none.  TYPE_ANY: the
 * filter is in the store. */
struct value *key_open(RedisModuleCtx *ctx, RedisModuleString *name, enum type type, int mode,
                       RedisModuleKey **key);
/* Puts a new value, whose filter is made, into a key. */
void key_set(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
             struct value *value);
/* The same where making the filter gave `rc`.  Below 0, frees the value, replies "ERR <failure>:
 * <sentence>" or that memory was out, and returns NULL. */
struct value *key_made(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
                       struct value *value, int rc, const char *failure);
/* Makes the filter of a new value and puts it into a key that is empty; replies OK.  If that fails,
 * frees the value, replies "ERR <failure>: <sentence>" and returns NULL. */
struct value *key_make(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
                       struct value *value, maker_fn *make, void *context, const char *failure);
