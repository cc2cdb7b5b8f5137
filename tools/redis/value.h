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

enum type { TYPE_BLOOM, TYPE_CUCKOO, TYPES };

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
    bool from_dump;       /* a dump brought it, no command */
    tamis_filter *filter;
    int64_t created_at; /* of the filter: by this a reference knows it again */
    int64_t origin;     /* of its first segment: a copy by way of a dump has the same */
    uint32_t kind;
    bool exact;         /* hash set redisbloom: the bits are RedisBloom's */
    uint32_t expansion; /* BF.*: 0 means NONSCALING */
    struct cuckoo cuckoo;
    char *arriving; /* what CF.LOADCHUNK has brought of it so far */
    size_t arrived;
};

extern RedisModuleType *value_types[TYPES];
extern const char *const value_type_names[TYPES];

/* Makes the data types; REDISMODULE_ERR if a module has them already. */
int value_register(RedisModuleCtx *ctx);

struct value *value_new(enum type type);
/* Fills in what the filter tells of itself: created_at, kind, exact, expansion. */
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
void rdb_save_value(RedisModuleIO *rdb, void *value);
void aof_rewrite_value(RedisModuleIO *aof, RedisModuleString *key, void *value);
/* The commands that make a value of CF.* anew; false: it could not be read. */
bool cuckoo_rewrite(RedisModuleIO *aof, RedisModuleString *key, const struct value *value);
/* What is being saved: a file (a child, or SAVE), or a payload of DUMP. */
void rdb_saving(bool to_file);
/* What is being loaded: an AOF, whose commands come behind its preamble, or a dump.  (The server
 * says that it has no AOF while it loads one.) */
void rdb_loading(bool aof);
