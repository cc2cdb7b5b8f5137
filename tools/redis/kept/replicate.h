/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * replicate.h: telling replicas and the AOF what a thread has changed in a filter.
 *
 * The server may have become a replica (FAILOVER, REPLICAOF) while the thread was at work.  Then
 * its master lacks the change.  The AOF gets it, as the filter has it; the log says so, and the
 * server is made to ask for a full sync (resync.h).
 */
#pragma once

#include "value/value.h"

/* The keys of the command, which are in argv, may have other names by now.  Puts these into argv,
 * in whose place it frees the old ones, and returns the database, or FOLLOW_GONE or FOLLOW_LOST.
 * argv has room for FOLLOW_ROOM further words. */
typedef int replicate_follow(const void *kept, RedisModuleString **argv, int *argc);

#define FOLLOW_ROOM 2
/* The filter that was changed is gone: so nobody need know of it. */
#define FOLLOW_GONE (-1)
/* A filter that was read is gone, or in another database: nobody can do the same. */
#define FOLLOW_LOST (-2)

/* Called by a command that is put off.  A server may lack what is needed. */
void replicate_prepare(RedisModuleCtx *ctx);
bool replicate_is_prepared(void);
/* For a replicate_follow: is the value still that of its key?  A flush takes keys away before their
 * values are freed. */
bool replicate_key_has(const struct value *value);
/* Deletes that key.  No command has it open. */
void replicate_take_key(const struct value *value);
/* Replicates the command argv, which has been done. */
void replicate_change(replicate_follow *follow, const void *kept, RedisModuleString **argv,
                      int *argc);
/* The server passes on what is replicated when a command ends, which SHUTDOWN never does, or when a
 * module has been told an event.  So this makes one, of a key. */
void replicate_now(RedisModuleString *key);
