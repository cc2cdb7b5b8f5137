/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bind.h: TAMIS.BIND key id, which stands in this server's own AOF alone: the value of the key has
 * that id, or, if there is no key yet, the next value of that key gets it.  A copy has its payload
 * behind the id.
 *
 * A value that is bound, while an AOF is loaded, to an id that the store has gets the store's
 * filter, which has every bit that was acknowledged.
 */
#pragma once

#include "value/stored.h"

/* Tells the AOF that the value of the key has its id, before the command that makes it.  `key`: its
 * name. */
void bind_tell(RedisModuleCtx *ctx, const char *key, size_t key_bytes, const struct value *value);
/* The same where no command is run: in a turn of the event loop. */
void bind_tell_now(RedisModuleCtx *ctx, int db, const char *key, size_t key_bytes,
                   const struct value *value);
/* The same for a copy of a filter of the store, with its payload: when an AOF is loaded the source
 * may have items already that came to it after the copy.  Called by the copy itself. */
void bind_tell_copy(int db, const char *key, size_t key_bytes, const struct value *value,
                    const RedisModuleString *payload);
/* A value is made for the key: takes the id that the AOF has told of it.  Returns whether there was
 * one. */
bool bind_take(int db, const char *key, size_t key_bytes, struct id *id);
/* A copy is made for the key: returns the payload that the AOF has told of it, or NULL.  The value
 * that is loaded from that, without the name of a key, takes the id. */
RedisModuleString *bind_take_copy(int db, const char *key, size_t key_bytes);
/* Gives the value the filter of the id, if the store has that and it is to be had: while this
 * server's own data are loaded.  Returns whether it did. */
bool bind_to_store(struct value *value, const struct id *id, int db, const char *key,
                   size_t key_bytes);

RedisModuleCmdFunc tamis_bind;
