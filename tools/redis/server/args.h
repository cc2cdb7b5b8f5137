/* SPDX-License-Identifier: BSD-2-Clause */
/* args.h: the arguments of commands, and replies that RESP2 and RESP3 give in forms of their own.
 */
#pragma once

#include <stdbool.h>

#include "server/redis_api.h"

/* RedisBloom's limits. */
#define CAPACITY_MAX (1LL << 30)
#define EXPANSION_MAX 32768
#define RATE_MAX 0.25 /* RedisBloom takes a greater rate for this one */

#define WRONG_TYPE "WRONGTYPE Operation against a key holding the wrong kind of value"
#define NOT_FOUND "ERR not found"
/* Stands before the library's sentence in the answers of our own commands. */
#define TOLD "tamis"

/* Is the argument this word, in any case? */
bool arg_is(const RedisModuleString *arg, const char *word);
/* The index of the first argument from `from` on that is the word; 0 if there is none. */
int arg_find(RedisModuleString **argv, int argc, int from, const char *word);
bool arg_integer(const RedisModuleString *arg, long long least, long long most, long long *number);

/* Can the client of the command be blocked?  One of MULTI, of a script, of a master or of an AOF
 * cannot, nor one that was blocked for this command already. */
bool args_can_wait(RedisModuleCtx *ctx);

bool reply_is_resp3(RedisModuleCtx *ctx);
/* Answers 1 or 0 of BF.*: by RESP3 RedisBloom has booleans, and valkey-bloom integers. */
int reply_yes_no(RedisModuleCtx *ctx, int yes);
