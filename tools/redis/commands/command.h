/* SPDX-License-Identifier: BSD-2-Clause */
/* command.h: the commands (a file for each family), and what they share. */
#pragma once

#include "home/adds.h"
#include "home/bind.h"
#include "keys/keys.h"
#include "keys/make.h"
#include "server/args.h"

/* What the commands of this server have done since it began; INFO tamis shows it. */
struct counts {
    uint64_t added, news, asked;
};
extern struct counts counts;

/*
 * The batch of the commands with many items: keys point into the arguments, nothing is copied.
 * One for the server's only thread that runs commands; it keeps its memory for the next.
 */
struct items {
    struct tamis_key *keys;
    uint8_t *answers;
    uint64_t *counts;
    size_t count, room;
};
struct items *items_of(RedisModuleString **argv, int count);
/* Asks a filter of either home about them.  Returns an error of the store, or 0 and more. */
int64_t ask_items(const struct value *value, const struct items *items);
/* Adds `count` items to a filter of BF.* of either home, and answers. */
void add_items(RedisModuleCtx *ctx, const struct value *value, RedisModuleString **argv,
               RedisModuleString **first, int count, answer_fn *answer);

/* What is told if that has happened. */
#define OTHER_FILTER "ERR a key got another filter while the command was under way; give it again"
/* Stands for the text of an error: the command is put off, and has no answer yet. */
extern const char put_off[];
/* Ends a command that has changed a key, or could not: replies OK and replicates it, or replies
 * with the error if there is one; closes the key.  Returns REDISMODULE_OK. */
int end_change(RedisModuleCtx *ctx, RedisModuleKey *key, const char *error);

/* Lets the server answer the command, by its own of that name. */
int pass_on(RedisModuleCtx *ctx, const char *command, const char *format, RedisModuleString **argv,
            int argc);

/* bf_*.c */
RedisModuleCmdFunc bf_reserve, bf_add, bf_madd, bf_insert, bf_exists, bf_mexists, bf_info, bf_card,
    bf_debug, bf_scandump, bf_loadchunk;

/* cf_*.c */
RedisModuleCmdFunc cf_reserve, cf_add, cf_addnx, cf_insert, cf_insertnx, cf_exists, cf_mexists,
    cf_count, cf_del, cf_compact, cf_info, cf_debug, cf_scandump, cf_loadchunk;

/* tamis_*.c */
RedisModuleCmdFunc tamis_reserve, tamis_info, tamis_merge, tamis_rotate, tamis_rollback, tamis_sync,
    tamis_attach, tamis_detach, tamis_orphans, tamis_stats, tamis_except, tamis_exceptions,
    tamis_load, tamis_add, tamis_check, tamis_parents, tamis_remove, tamis_count,
    tamis_explain_items, tamis_export, tamis_combine, tamis_spec, tamis_share;
/* Adds the section of INFO. */
int tamis_info_register(RedisModuleCtx *ctx);
