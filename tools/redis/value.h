/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * value.h: the value of a key: a handle on a filter of the store.
 *
 * The keeper (keeper.h) lists all values and keeps the names of their filters in step with the
 * keys.  A value is used by the server's main thread; Redis may free it in another thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "names.h"
#include "redis_api.h"

enum type { TYPE_BLOOM, TYPE_CUCKOO, TYPES, TYPE_ANY = TYPES };

/* What a key of CF.* has beside its filter of kind counting (cf_shape.c). */
struct cuckoo {
    uint64_t buckets; /* of the first sub-filter, as RedisBloom would have them */
    uint64_t items;   /* added and not deleted */
    uint64_t deletes; /* since the last compaction */
    uint32_t filters; /* sub-filters that RedisBloom would have */
    uint32_t bucket_size, max_iterations, expansion;
};

struct value {
    struct value *next, **link; /* the keeper's list; link is NULL outside of it */
    struct value *same;         /* the next in the keeper's table of keys */
    uint64_t hash;              /* of the key */
    enum type type;
    char *key; /* as the keeper last saw it, key_bytes bytes */
    size_t key_bytes;
    int db;
    char name[NAME_ROOM]; /* of the filter, now */
    bool settled;         /* that is the name of its key */
    bool attached;        /* made by others: it stays when the key goes */
    bool goes;            /* its key is gone */
    bool from_dump;       /* a dump brought what the filter had at first, no command */
    bool taken;           /* the store had the filter when the server began */
    tamis_filter *filter;
    int64_t created_at; /* of the filter: by this a reference knows it again */
    int64_t origin;     /* of its first segment: a copy by way of a dump has the same */
    uint32_t kind;
    bool durable;       /* an add waits for the disk: durable.h */
    struct line *line;  /* of its jobs; NULL: it had none yet */
    bool exact;         /* hash set redisbloom: the bits are RedisBloom's */
    uint32_t expansion; /* BF.*: 0 means NONSCALING */
    struct cuckoo cuckoo;
    uint8_t **slots; /* cf_exact.h; NULL: of kind counting */
    char *arriving;  /* what CF.LOADCHUNK has brought of it so far */
    size_t arrived;
};

extern RedisModuleType *value_types[TYPES];
extern const char *const value_type_names[TYPES];

/* Makes the data types; REDISMODULE_ERR if a module has them already. */
int value_register(RedisModuleCtx *ctx);

struct value *value_new(enum type type);
/* Fills in what the filter tells of itself: created_at, kind, exact, expansion.  TAMIS_EINVAL: a
 * key of this type cannot have a filter of that kind. */
int value_describe(struct value *value);
/* Frees a value that the keeper does not have. */
void value_free(struct value *value);

/* Frees what CF.LOADCHUNK has brought so far. */
void value_forget_arrived(struct value *value);

/* What BF.INFO calls its size: 32 bytes, 64 for each segment, and their data. */
uint64_t value_size_bytes(const struct value *value);

/* rdb.c and aof.c */
void *rdb_load_bloom(RedisModuleIO *rdb, int encver);
void *rdb_load_cuckoo(RedisModuleIO *rdb, int encver);
/* rdb_payload.c; false: not all of it could be read */
bool rdb_save_payload(RedisModuleIO *rdb, const struct value *value, const unsigned char *head,
                      size_t head_bytes);
int rdb_load_payload(RedisModuleIO *rdb, struct value *value, int db, const char *key,
                     size_t key_bytes);
/* rdb_cuckoo.c: the slots of a cuckoo filter of RedisBloom */
void rdb_save_slots(RedisModuleIO *rdb, const struct value *value);
/* Fills value->slots by value->cuckoo; false: they are not what that says. */
bool rdb_load_slots(RedisModuleIO *rdb, struct value *value, bool has_buckets);
/* The last number of encoding version 5: the seed of the hash.  Returns whether it is the one that
 * filters have which were made without one. */
bool rdb_load_seed(RedisModuleIO *rdb, int encver, uint64_t usual);
struct value *rdb_load_redisbloom_cuckoo(RedisModuleIO *rdb, int encver);
void rdb_save_value(RedisModuleIO *rdb, void *value);
void aof_rewrite_value(RedisModuleIO *aof, RedisModuleString *key, void *value);
/* The commands that make a value of CF.* anew; false: it could not be read. */
bool cuckoo_rewrite(RedisModuleIO *aof, RedisModuleString *key, const struct value *value);
/* What is being saved: a file (a child, or SAVE), or a payload of DUMP. */
void rdb_saving(bool begins, bool to_file);
/* What is being loaded: an AOF, whose commands come behind its preamble, or a dump.  (The server
 * says that it has no AOF while it loads one.) */
void rdb_loading(bool aof);
