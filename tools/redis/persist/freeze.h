/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * freeze.h: filters of kind counting as they were when a child was born.
 *
 * The filter's file is shared: what the server counts after the fork is seen by the child that
 * saves it, and the replica or the AOF would count it again.  So the child first copies all of
 * these filters, as streams, into its own memory, and commands that count wait for this.  A child
 * that moves slots to another server (Valkey 9) has no event that says what it does, so each child
 * copies at the end of fork().
 */
#pragma once

#include <stddef.h>

#include "value/value.h"

/* Called by the thread that runs commands, when the module is loaded. */
void freeze_prepare(void);
/* Called in the server when a child is born, and when it is dead. */
void freeze_begin(void);
void freeze_end(void);
/* Waits until the child has its copies.  Called by commands that count. */
void freeze_wait(void);
/* The stream of a value as it was when the child was born.  NULL if there is no copy: then the
 * filter itself has not changed. */
const char *freeze_stream(const struct value *value, size_t *bytes);

/* Writes the filter as a stream into new memory, which the caller frees by RedisModule_Free().
 * NULL if that failed. */
char *stream_in_memory(const struct value *value, size_t *bytes);
