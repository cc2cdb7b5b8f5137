/* SPDX-License-Identifier: BSD-2-Clause */
/* rdb.h: values in dumps and in payloads of DUMP; rdb.c has the bytes. */
#pragma once

#include "value/stored.h"

/* What is being saved: tells whether ids go along, and whether a reference will do. */
enum saving { SAVING_PAYLOAD, SAVING_FILE, SAVING_AOF, SAVING_REPLICA };
void rdb_saving(enum saving what);
/* A dump of a master is loaded: its ids are not ours. */
void rdb_loading_of_master(bool is);

void *rdb_load_bloom(RedisModuleIO *rdb, int encver);
void *rdb_load_cuckoo(RedisModuleIO *rdb, int encver);
void rdb_save_value(RedisModuleIO *rdb, void *value);

/* A dump or an AOF (`what`) would lack a filter.  In a child the save fails, and this does not
 * return.  A command that saves (SAVE) cannot fail; the log says that it has made no good dump. */
void save_lacks(RedisModuleIO *io, const char *what, const struct value *value);

/* rdb_layers.c: RedisBloom's layers; the first two numbers are read, or follow. */
struct memory;
void rdb_save_layers(RedisModuleIO *rdb, const struct memory *memory);
struct value *rdb_load_layers(RedisModuleIO *rdb, int encver, uint64_t count);

/* rdb_cuckoo.c */
struct exact;
void rdb_save_cuckoo(RedisModuleIO *rdb, const struct exact *exact);
struct value *rdb_load_redisbloom_cuckoo(RedisModuleIO *rdb, int encver);
/* Loads the last number of encoding version 5, the seed of the hash.  Returns whether it is the
 * usual one, which filters have that were made without SEED. */
bool rdb_load_seed(RedisModuleIO *rdb, int encver, uint64_t usual);

/* Loads a filter of ours, when its version was read, and the number behind it.  `as_valkey`: its
 * type is bloomfltr. */
struct value *rdb_load_own(RedisModuleIO *rdb, uint64_t version, bool as_valkey);
