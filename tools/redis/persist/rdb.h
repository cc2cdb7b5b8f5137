/* SPDX-License-Identifier: BSD-2-Clause */
/* rdb.h: values in dumps and in payloads of DUMP, of which rdb.c has the bytes; and in an AOF that
 * is rewritten without a preamble. */
#pragma once

#include "value/homes.h"

/*
 * What is saved: a payload of DUMP, which tells no ids; one for COPY, in which a filter that counts
 * goes whole, too; a file, which tells ids, and in which tamis.rdb says whether a reference will
 * do; or a file that a replica may get, whose content must be whole.  A replica passes over the
 * ids, so it does no harm to take a file for a replica's.
 */
enum saving { SAVING_PAYLOAD, SAVING_COPY, SAVING_FILE, SAVING_WHOLE };
void rdb_saving(enum saving what);
/* A dump of a master is loaded: its ids are not ours. */
void rdb_loading_of_master(bool is);

/* RedisBloom's type has this encoding version, which its dumps have, too. */
#define RDB_ENCODING 4
/* That of valkey-bloom, which so reads what we write of its filters: rdb_valkey.c. */
#define RDB_ENCODING_VALKEY 1

void *rdb_load_bloom(RedisModuleIO *rdb, int encver);
void *rdb_load_cuckoo(RedisModuleIO *rdb, int encver);
void rdb_save_value(RedisModuleIO *rdb, void *value);
/* aof.c: emits the commands that make the value anew. */
void aof_rewrite_value(RedisModuleIO *aof, RedisModuleString *key, void *value);

/* COPY: the payload of a value, or NULL if it cannot be read; and another value that is made of the
 * payload, or NULL. */
RedisModuleString *rdb_copy_out(struct value *value);
struct value *rdb_copy_in(const RedisModuleString *payload, const struct value *of);

/* A dump or an AOF (`what`) would lack a filter.  In a child the save fails, and this does not
 * return.  A command that saves (SAVE) cannot fail; the log says that it has made no good dump. */
void save_lacks(RedisModuleIO *io, const char *what, const struct value *value);

/* rdb_layers.c: layers of memory, or of an open filter of the store, which pieces_outline() has
 * made `memory` of.  Bits are cut in pieces unless `redisbloom` is to load them.  Returns false if
 * some cannot be read. */
bool rdb_save_layers(RedisModuleIO *rdb, const struct value *value, const struct memory *memory,
                     bool redisbloom);
/* Loads them, when the two numbers at their beginning were read.  memory: NULL to skip them. */
bool rdb_load_layers(RedisModuleIO *rdb, int encver, bool exact, const uint64_t numbers[2],
                     struct memory **memory);
/* Loads the last number of encoding version 5, the seed of the hash.  Returns whether it is the
 * usual one, which filters have that were made without SEED. */
bool rdb_load_seed(RedisModuleIO *rdb, int encver, uint64_t usual);

struct exact;
void rdb_save_cuckoo(RedisModuleIO *rdb, const struct exact *exact);
struct value *rdb_load_redisbloom_cuckoo(RedisModuleIO *rdb, int encver);

/* Loads a filter of ours, when its version was read, and the number behind it.  `as_valkey`: its
 * type is bloomfltr. */
struct value *rdb_load_own(RedisModuleIO *rdb, uint64_t version, bool as_valkey);
