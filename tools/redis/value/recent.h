/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recent.h: the values that commands with a single item have used, by the names of their keys.
 *
 * The server looks up key, command and user between reading a command and running it: 150 to 250
 * ns, in which the memory that the command will read could come into the caches.  A filter of
 * commands sees each command before all that (commands/bits.c), and has the memory fetched that the
 * item needs in the filter that the key had last time.  That is a hint: it may be the wrong filter,
 * for a key that was renamed or is in another database, and then nothing is won.
 *
 * A few values are remembered, and none that is so small that the caches have all of it.
 */
#pragma once

#include "value/value.h"

/* The main thread calls these two: a command with this key and item is about to be run; the command
 * has opened this value. */
void recent_fetch(const RedisModuleString *key, const RedisModuleString *item);
void recent_used(struct value *value, const RedisModuleString *key);

/* Called, from any thread, before the value or its handle is freed. */
void recent_forget(const struct value *value);
