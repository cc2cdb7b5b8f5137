/* SPDX-License-Identifier: BSD-2-Clause */
/* keys.h: the keys of the server that have a filter, as commands find and make them. */
#pragma once

#include "value/reply.h"
#include "value/stored.h"

#define READ_WRITE (REDISMODULE_READ | REDISMODULE_WRITE)

/* What a key holds, for a command that works on one type, or on any (TYPE_ANY). */
enum held { HELD_NONE, HELD_OTHER, HELD_VALUE, HELD_CLOSED };
/* Looks at the key; never HELD_CLOSED. */
enum held key_look(RedisModuleKey *key, enum type type, struct value **value);
/* The same; a filter of the store is open then.  HELD_CLOSED: it cannot be opened, and *value is
 * NULL. */
enum held key_held(RedisModuleKey *key, enum type type, struct value **value);
/* The text of the error for a key that has no value to work on.  It is good until the next call. */
const char *held_error(enum held held);

/* Opens a key of that type.  If the key has no such value, replies with an error and returns NULL.
 */
struct value *key_open(RedisModuleCtx *ctx, RedisModuleString *name, enum type type, int mode,
                       RedisModuleKey **key);
/*
 * The same for a command that needs the filter in the store, and whose `again` runs it anew: one
 * that is in memory is brought there, and its client waits.  Returns NULL then, too.  A cuckoo
 * filter, and one of valkey-bloom, are refused.
 */
struct value *key_open_stored(RedisModuleCtx *ctx, RedisModuleString *name, int mode,
                              RedisModuleReplyFunc *again, RedisModuleKey **key);

/* Opens a key for a command that makes its filter.  If it is taken, replies and returns NULL. */
RedisModuleKey *key_open_free(RedisModuleCtx *ctx, RedisModuleString *name, enum type type);

/* Tells of an event, of the class that the setting tamis.like has for it. */
void key_event(RedisModuleCtx *ctx, const char *event, RedisModuleString *name);
/* Puts a new value into a key that is empty. */
void key_set(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
             struct value *value);
/* Is a command of an AOF that is loaded one that the filter has done already?  Only adds are
 * repeated. */
bool key_has_done(RedisModuleCtx *ctx, const struct value *value);
