/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bind.h: TAMIS.BIND key id, which stands in this server's own AOF alone: the value of the key has
 * that id, or, if there is no key yet, the next value of that key gets it.  A copy has its content
 * behind the id: the head and the pieces of BF.SCANDUMP; or STREAM and a stream of format tamis.
 *
 * A value that is bound, while an AOF is loaded, to an id that the store has gets the store's
 * filter, which has every bit that was acknowledged.
 */
#pragma once

#include "value/stored.h"

/* Tells the AOF that the value of the key has its id, before the command that makes it.  `key`: its
 * name. */
void bind_tell(RedisModuleCtx *ctx, const char *key, size_t key_bytes, const struct value *value);
/* The same for a copy that only the store can have, whose filter a thread is about to make: with
 * its stream.  The context is of no command. */
void bind_tell_stream(const char *key, size_t key_bytes, int db, const struct id *id,
                      const void *stream, size_t stream_bytes);
/* The same where no command is run: in a turn of the event loop. */
void bind_tell_now(RedisModuleCtx *ctx, int db, const char *key, size_t key_bytes,
                   const struct value *value);
/* The same for a copy, which is in memory, of a filter of the store: with its content.  When an AOF
 * is loaded the source may have items already that came to it after the copy. */
void bind_tell_copy(RedisModuleCtx *ctx, const char *key, size_t key_bytes,
                    const struct value *value);
/* A value is made for the key: takes the id that the AOF has told of it.  Returns whether there was
 * one. */
bool bind_take(int db, const char *key, size_t key_bytes, struct id *id);
/* The value is a copy: as bind_take(), and it gets what the AOF has told of its content, or the
 * filter of its id.  Returns whether it has a home now.  If not, *stream has what its filter is to
 * be made of, under that id; the caller frees it.  NULL: nothing was told. */
bool bind_take_copy(int db, const char *key, size_t key_bytes, struct value *value, struct id *id,
                    char **stream, size_t *stream_bytes);
/* Gives the value the filter of the id, if the store has that and it is to be had: while this
 * server's own data are loaded.  Returns whether it did. */
bool bind_to_store(struct value *value, const struct id *id, int db, const char *key,
                   size_t key_bytes);

RedisModuleCmdFunc tamis_bind;
