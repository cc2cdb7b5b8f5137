/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * freeze.h: filters of kind counting as they were when a child was born.
 *
 * The filter's file is shared: what the server counts after the fork is seen by the child that
 * saves it, and the replica or the AOF would count it again.  So the child first copies all of
 * these filters, as streams, into its own memory.  A command that counts is put off until then: its
 * client is blocked, and the server goes on.  Commands that have no client which could wait, those
 * of MULTI, of scripts and of a master, make the server wait.  A child that moves slots to another
 * server (Valkey 9) has no event that says what it does, so each child copies at the end of fork().
 */
#pragma once

#include <stddef.h>

#include "value/value.h"

/* Called by the thread that runs commands, when the module is loaded. */
void freeze_prepare(void);
/* Called in the server when a child is born, and when it is dead. */
void freeze_begin(void);
void freeze_end(void);
/* Called by a command that counts, before it does or replies anything.  Returns whether it was put
 * off: then `again`, the command itself, is called once the child has its copies. */
bool freeze_puts_off(RedisModuleCtx *ctx, RedisModuleReplyFunc *again);
/* Has no child to copy just now?  `waits`: the server waits for that.  Returns whether it is so. */
bool freeze_is_over(bool waits);
/* The stream of a value as it was when the child was born.  NULL if there is no copy: then the
 * filter itself has not changed. */
const char *freeze_stream(const struct value *value, size_t *bytes);

/* Writes the filter as a stream into new memory, which the caller frees by RedisModule_Free().
 * NULL if that failed. */
char *stream_in_memory(const struct value *value, size_t *bytes);
