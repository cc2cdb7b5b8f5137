/* SPDX-License-Identifier: BSD-2-Clause */
/* rdb_parts.h: what rdb.c has of rdb_payload.c and rdb_cuckoo.c. */
#pragma once

#include "keys/make.h"
#include "value/drafts.h"
#include "value/head.h"
#include "value/value.h"

/* rdb_payload.c: RedisBloom's bits.  False: not all of them could be read. */
bool rdb_save_payload(RedisModuleIO *rdb, const struct value *value, const unsigned char *head,
                      size_t head_bytes);
int rdb_load_payload(RedisModuleIO *rdb, struct value *value, int db, const char *key,
                     size_t key_bytes);

/* Is a dump or an AOF loaded?  Not in a thread, which reads the payload of a client. */
bool rdb_is_loading(void);
/* Makes a draft of a small filter of RedisBloom with one layer.  Returns false if it is none, or in
 * a thread. */
bool rdb_begin_layer(struct value *value, int db, const char *key, size_t key_bytes,
                     const void *head, size_t head_bytes, const void *data, size_t data_bytes);

/* lacking.c: a dump or an AOF (`what`) would lack the filter, and could not be loaded, or would
 * have lost a key when it is.  In a child the save fails, and this does not return.  A command that
 * saves (SAVE) cannot fail; the log says that it has made no good dump. */
void save_lacks(RedisModuleIO *io, const char *what, const struct value *value);

/* rdb_draft.c: a filter that is not in the store yet. */
struct dumped_draft {
    struct tamis_filter_spec spec;
    struct tamis_key keys[DRAFT_KEYS_MAX]; /* allocated */
    size_t key_count;
    size_t head_bytes; /* not 0: it is a filter of RedisBloom, of the head that follows */
    unsigned char head[HEAD_FRAME_BYTES + BLOOM_HEAD_BYTES + BLOOM_LAYER_BYTES];
    int64_t created_at; /* what it is to be; 0: now */
};
/* Brings a draft into the store that cannot be saved as it is.  A child cannot do that, and is
 * ended: the save fails, and the one before stays. */
void rdb_settle_draft(RedisModuleIO *io, const char *what, struct value *value);
void rdb_save_draft(RedisModuleIO *rdb, const struct value *value);
/* TAMIS_ECORRUPT: the dump is damaged; TAMIS_ENOMEM: it is larger than tamis.max-bytes.
 * rdb_forget_draft() follows in any case. */
int rdb_load_draft(RedisModuleIO *rdb, struct dumped_draft *draft);
void rdb_forget_draft(struct dumped_draft *draft);
struct maker rdb_draft_maker(struct dumped_draft *draft);
/* Makes a draft of it, as the commands did of which an AOF would have been made. */
int rdb_draft_anew(struct value *value, int db, const char *key, size_t key_bytes,
                   struct dumped_draft *draft);
/* The store has the filter already, and the value has it.  Adds what it lacks of the keys: it may
 * have been made before the last of them came. */
int rdb_add_dumped(struct value *value, const struct dumped_draft *draft);
void rdb_emit_draft(RedisModuleIO *aof, RedisModuleString *key, const struct value *value);

/* rdb_cuckoo.c: the slots of a cuckoo filter of RedisBloom. */
void rdb_save_slots(RedisModuleIO *rdb, const struct value *value);
/* Loads value->slots, as many as value->cuckoo says.  Returns false if the dump has others. */
bool rdb_load_slots(RedisModuleIO *rdb, struct value *value, bool has_buckets);
/* Loads the last number of encoding version 5, the seed of the hash.  Returns whether it is the
 * usual one, which filters have that were made without SEED. */
bool rdb_load_seed(RedisModuleIO *rdb, int encver, uint64_t usual);
/* A whole value of RedisBloom's type of cuckoo filters; NULL: the dump is damaged. */
struct value *rdb_load_redisbloom_cuckoo(RedisModuleIO *rdb, int encver);

/* rdb_valkey.c: values of the type bloomfltr.  Saves a filter of valkey-bloom, and returns true; of
 * another one only what tells that. */
bool rdb_save_valkey(RedisModuleIO *rdb, const struct value *value);
/* Returns whether what follows is ours.  If not, *value is a filter of valkey-bloom, or NULL: the
 * dump is damaged. */
bool rdb_begins_own(RedisModuleIO *rdb, int encver, struct value **value);
