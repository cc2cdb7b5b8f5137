/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flush.h: FLUSHALL and FLUSHDB that keep nobody waiting.
 *
 * A server that empties its keyspace at once frees one key after the other, whatever they are, and
 * answers nobody meanwhile: some 0.3 seconds for a million.  With ASYNC a thread of the server does
 * that.  Which of the two a FLUSHALL without a word means is up to a setting of the server,
 * lazyfree-lazy-user-flush, which is `no` unless it is a Valkey.  So once the server has many
 * filters that setting becomes `yes`, unless tamis.flush says `server`.  FLUSHALL SYNC stays what
 * it is, and what the operator sets afterwards stays set.
 *
 * With tamis.rdb reference the setting stays as it is: a filter that goes after the dump has begun
 * which FLUSHALL makes is kept until the next one (kept.h), one rename for each.
 *
 * A server that saves its data also writes an empty dump after FLUSHALL, in its main thread, and
 * renames it over the old one.  Thereby the system frees what the old one has on the disk and in
 * memory, and the server waits: 0.15 seconds where a million filters were saved.  A file is freed
 * when nobody has it open any more.  So the old dump is held open until a thread closes it.
 */
#pragma once

#include "server/redis_api.h"

/* Are there many filters for the first time?  Called now and then. */
void flush_watch(RedisModuleCtx *ctx);
/* FLUSHALL begins: holds the dump open, if it is a large one. */
void flush_begins(RedisModuleCtx *ctx);
/* Lets a thread close it.  Called now and then, not within a command. */
void flush_tidy(void);
