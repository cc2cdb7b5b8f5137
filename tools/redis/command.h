/* SPDX-License-Identifier: BSD-2-Clause */
/* command.h: the commands: how they are registered, and what those of one kind share. */
#pragma once

#include "args.h"
#include "keeper.h"

struct command {
    const char *name; /* in lower case, as error texts have it */
    RedisModuleCmdFunc *run;
    const char *flags;
    const char *acl; /* categories, where the server has them (7.4 and later) */
    int arity;
    uint64_t key;            /* REDISMODULE_CMD_KEY_*; 0: there is none */
    int more_keys;           /* 0: argument 1 is the key; -1: all arguments are keys */
    int other_keys_at;       /* from this argument on they are keys that are read; 0: none */
    const char *keys_behind; /* the same behind this word; NULL: none */
    const char *since, *tips, *summary, *complexity;
    const RedisModuleCommandArg *args;
};

/* Makes RedisBloom's categories of ACL, where the server lets a module (7.4 and later).  Comes
 * before the commands. */
void categories_register(RedisModuleCtx *ctx);
int commands_register(RedisModuleCtx *ctx);

extern const struct command commands[]; /* tables.c; a name of NULL ends it */

/* What the commands of this server have done since it began; INFO tamis shows it. */
struct counts {
    uint64_t added, news, asked;
};
extern struct counts counts;

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

/*
 * The batch of the commands with many items: keys point into the arguments, nothing is copied.
 * One for the server's only thread that runs commands; it keeps its memory for the next.
 */
struct items {
    struct tamis_key *keys;
    uint8_t *answers;
    uint64_t *counts;
    size_t count;
};
struct items *items_of(RedisModuleString **argv, int count);

/* Starts a thread that nobody waits for.  Returns whether the system gives one. */
bool thread_start(void *(*run)(void *context), void *context);

/* bf_*.c */
RedisModuleCmdFunc bf_reserve, bf_add, bf_madd, bf_insert, bf_exists, bf_mexists, bf_info, bf_card,
    bf_debug, bf_scandump, bf_loadchunk;

/* cf_*.c */
RedisModuleCmdFunc cf_reserve, cf_add, cf_addnx, cf_insert, cf_insertnx, cf_exists, cf_mexists,
    cf_count, cf_del, cf_compact, cf_info, cf_debug, cf_scandump, cf_loadchunk;

/* tamis_*.c */
RedisModuleCmdFunc tamis_reserve, tamis_info, tamis_merge, tamis_rotate, tamis_rollback, tamis_sync,
    tamis_attach, tamis_detach, tamis_orphans, tamis_stats, tamis_except, tamis_exceptions,
    tamis_load, tamis_add, tamis_check, tamis_remove, tamis_count, tamis_explain_items,
    tamis_export, tamis_combine, tamis_spec;
/* Adds the section of INFO. */
int tamis_info_register(RedisModuleCtx *ctx);

/* bits.c: SETBIT, GETBIT, BITCOUNT and STRLEN on keys that have a filter. */
RedisModuleCmdFunc bits_setbit, bits_getbit, bits_bitcount, bits_strlen;
int bits_register(RedisModuleCtx *ctx);

/* events.c: keeps the store in step with what happens in the server. */
int events_subscribe(RedisModuleCtx *ctx);

/* What a key gets that BF.ADD or BF.MADD makes. */
struct bloom_shape;
void bf_default_shape(struct bloom_shape *shape);
/* Makes the filter of a key that is there not yet.  Replies, and returns NULL, if that fails. */
struct value *bf_make(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
                      const struct bloom_shape *shape);
