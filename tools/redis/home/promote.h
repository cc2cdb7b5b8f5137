/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * promote.h: the one way from memory to the store.
 *
 *     1 main thread   notes from now on each key that is new (memory.h), and claims the id
 *     2 a thread      makes the filter under the name of a new id, with a copy of the bits, and
 * syncs 3 main thread   in a turn of the event loop: adds the keys that were noted, logs
 * TAMIS.BIND, and the value is the filter, with that id
 *
 * The id is new, so that a load never takes a file that lacks the keys which were noted: no dump
 * and no log knows the id of a file before that is whole.
 *
 * Adds go on in memory meanwhile.  If the value goes, its bits stay until the thread is done, and
 * the filter is dropped.  If the thread fails, the value stays in memory, and it is tried again.
 */
#pragma once

#include "value/value.h"

/* Begins, unless it is under way, or has just failed, or the store is another server's. */
void promote_begin(struct value *value, int db, const char *key, size_t key_bytes);
/* The same for a value that takes more memory than tamis.share-from. */
void promote_if_large(struct value *value, int db, const char *key, size_t key_bytes);
/* Blocks the client of the command until the value is in the store; false: it cannot wait. */
bool promote_wait(RedisModuleCtx *ctx, const struct value *value, RedisModuleReplyFunc *again);
/* Must an add of the value wait, as too much of it is in memory?  Then promote_wait(). */
bool promote_holds(const struct value *value);
/* Brings a value to the store at once: the server waits for the disk.  Returns 0 or an error. */
int promote_now(RedisModuleCtx *ctx, struct value *value, int db, const char *key,
                size_t key_bytes);
/* What the last promotion of the value failed by, some seconds ago; NULL: none did. */
const char *promote_failure(const struct value *value);
/* The value is renamed, or moved. */
void promote_follow(const struct value *value, int db, const char *key, size_t key_bytes);
uint64_t promote_count(void);
