/* SPDX-License-Identifier: BSD-2-Clause */
/* bf_parts.h: what the files of BF.* know of each other. */
#pragma once

#include "commands/command.h"
#include "valkey/valkey.h"
#include "value/memory.h"

/* What a command adds, and what it does where there is no filter. */
struct adding {
    struct bloom_shape shape; /* of the filter that it makes */
    bool own;                 /* that is one of valkey-bloom */
    struct valkey_shape valkey;
    bool draws; /* its seed is drawn when it is made */
    bool no_create;
    bool by_default;             /* bf_default_adding() is still to come, if there is no filter */
    RedisModuleReplyFunc *again; /* the command, if its client is put off */
    int first;                   /* index of the first item; argc: there is none */
};

/* What a command makes that does not say what; the other fields are zero. */
void bf_default_adding(struct adding *adding);
/* Makes the filter of a key that is there not yet.  Replies, and returns NULL, if that fails. */
struct value *bf_make(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
                      struct adding *adding);
/* A value that is made of a head, or of a shape, in memory: gives it the id and the filter that the
 * AOF tells, and begins to bring it to the store, if it is large. */
void bf_born(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
             struct value *value);

/* valkey/bf_valkey.c.  These two read a command with the words of valkey-bloom; if it is wrong they
 * reply, and return false. */
bool valkey_take_reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc,
                         struct adding *adding);
bool valkey_take_insert(RedisModuleCtx *ctx, RedisModuleString **argv, int argc,
                        struct adding *adding);
/* Is it a word of BF.INSERT that RedisBloom does not have? */
bool valkey_has_word(const RedisModuleString *arg);
/* Tells replicas that the key `name` got this filter, with these items. */
void valkey_replicate_made(RedisModuleCtx *ctx, RedisModuleString *name,
                           const struct valkey *valkey, RedisModuleString **items, int count);
