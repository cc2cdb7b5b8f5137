/* SPDX-License-Identifier: BSD-2-Clause */
/* keys.h: the keys of the server that have a filter, as commands open and make them. */
#pragma once

#include "keys/make.h"

/* What a key holds, for a command that works on one type, or on any (TYPE_ANY). */
enum held { HELD_NONE, HELD_OTHER, HELD_VALUE, HELD_CLOSED };
/* The filter of a value that this gives is open (value_open()).  HELD_CLOSED: it cannot be opened,
 * and *value is NULL. */
enum held key_held(RedisModuleKey *key, enum type type, struct value **value);
/* The same without opening anything; never HELD_CLOSED. */
enum held key_look(RedisModuleKey *key, enum type type, struct value **value);
/* Is the filter of the key a draft that has no room for so many more keys (0: any), and can the
 * client wait until it is made?  Then the client is blocked, and the command is run anew. */
bool key_puts_off(RedisModuleCtx *ctx, RedisModuleKey *key, enum type type, size_t keys);
/* What runs the command of this client anew; NULL: it cannot be. */
typedef RedisModuleReplyFunc *keys_again_fn(RedisModuleCtx *ctx);
void keys_set_again(keys_again_fn *find);
/* As key_held(), but a draft that has room for so many more keys stays one (drafts.h).  With no key
 * the filter is only read. */
enum held key_held_or_draft(RedisModuleKey *key, enum type type, size_t keys, struct value **value);
/* The text of the error for a key that has no value to work on.  It is good until the next call. */
const char *held_error(enum held held);
#define READ_WRITE (REDISMODULE_READ | REDISMODULE_WRITE)
/* Opens a key of that type.  If the key has no such value, replies with an error and returns NULL;
 * also if the command is put off.
 * TYPE_ANY refuses cuckoo filters of RedisBloom, and TYPE_BLOOM too filters of valkey-bloom, which
 * are not in the store. */
struct value *key_open(RedisModuleCtx *ctx, RedisModuleString *name, enum type type, int mode,
                       RedisModuleKey **key);
/* The same of TYPE_BLOOM, for the commands that take filters of valkey-bloom too: the others refuse
 * what is not in the store. */
struct value *key_open_bloom(RedisModuleCtx *ctx, RedisModuleString *name, int mode,
                             RedisModuleKey **key);
/* The same to read, but a small filter that is closed stays closed: *lit is what the library tells
 * of its only segment.  Else lit->number is 0. */
struct value *key_open_or_lit(RedisModuleCtx *ctx, RedisModuleString *name, RedisModuleKey **key,
                              struct tamis_segment_stat *lit);
/* Tells of an event, of the class that the setting tamis.like has for it. */
void key_event(RedisModuleCtx *ctx, const char *event, RedisModuleString *name);
/* Puts a new value, whose filter is made, into a key. */
void key_set(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
             struct value *value);
/* The same if `rc`, which the making of the filter returned, is 0.  Else frees the value, replies
 * "ERR <failure>: <sentence>" or that there is no memory, and returns NULL.  If the command is put
 * off, returns NULL too, and replies nothing. */
struct value *key_made(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
                       struct value *value, int rc, const char *failure);
/* Makes the filter of a new value and puts it into a key that is empty; replies OK.  If that fails,
 * frees the value, replies "ERR <failure>: <sentence>" and returns NULL.  If the command is put
 * off, returns NULL too, and replies nothing. */
struct value *key_make(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
                       struct value *value, const struct maker *maker, const char *failure);
