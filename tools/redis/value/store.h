/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store.h: the store of this server.
 *
 * One server owns a store, by a lock of fcntl()'s sort on its file redis.lock, which the children
 * of a server do not inherit.  A second one refuses to load, unless tamis.attach-only says that it
 * is to make and drop nothing there.
 *
 * An id is claimed while a thread makes its filter, and until the key has it: the filter is no
 * orphan then.
 */
#pragma once

#include "value/value.h"

/* Opens the store and takes the lock.  Returns NULL, with the library's sentence, if that cannot
 * be; commands try again. */
tamis_store *store_open(void);
/* The store, if it is open. */
tamis_store *store_is_open(void);
/* Does another server own the store?  Looked at by store_open(). */
bool store_is_of_another(void);
/* The number of the store that was opened last; 0: none was. */
uint64_t store_id(void);

/* Calls fn with the name that the filter has, once more if it got another one meanwhile.  Any
 * thread.
 */
int store_by_name(const struct id *id, int (*fn)(void *context, tamis_store *store, const char *),
                  void *context);

/* Makes a filter of ours with no bit set, of the head of RedisBloom or of one that
 * memory_head() tells.  Any thread. */
int store_import_head(const char *name, bool exact, bool durable, const unsigned char *head,
                      size_t bytes, tamis_filter **filter);

void store_claim(const struct id *id);
void store_unclaim(const struct id *id);
bool store_is_claimed(const struct id *id);
