/* SPDX-License-Identifier: BSD-2-Clause */
/* bf_parts.h: what the files of BF.* know of each other. */
#pragma once

#include "commands/command.h"
#include "value/guest.h"
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

/* The rest of BF.RESERVE, when its words are read. */
int bf_reserve_key(RedisModuleCtx *ctx, RedisModuleString **argv, struct adding *adding);
/* The rest of BF.ADD, BF.MADD and BF.INSERT; `single`: the answer is no array. */
int bf_add_items(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, struct adding *adding,
                 bool single);
/* Tells INFO and who listens to events of the key what was added. */
void bf_count_added(RedisModuleCtx *ctx, RedisModuleString *name, size_t count, uint64_t news);
