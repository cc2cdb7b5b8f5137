/* SPDX-License-Identifier: BSD-2-Clause */
/* config.h: what the operator says: CONFIG tamis.NAME, and the same names as arguments of
 * loadmodule. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "server/redis_api.h"

enum rdb_mode { RDB_CONTENT, RDB_REFERENCE };
enum drop_orphans { ORPHANS_AUTO, ORPHANS_YES, ORPHANS_NO };
enum restore { RESTORE_STORE, RESTORE_REPLACE };
enum like { LIKE_REDISBLOOM, LIKE_VALKEY };

/* A setting that is a number between 0 and 1, both excluded. */
struct ratio {
    double value;
    char *text; /* as it was set */
};

struct config {
    const char *module_name;    /* "tamis" or "bf": what the server puts before settings */
    char *store;                /* tamis.store */
    int rdb;                    /* tamis.rdb: enum rdb_mode */
    int drop_orphans;           /* tamis.drop-orphans: enum drop_orphans */
    int restore;                /* tamis.restore: enum restore, what wins over the other */
    int attach_only;            /* tamis.attach-only: another server owns the store */
    int like;                   /* tamis.like: enum like, whose answers BF.* gives */
    int exact;                  /* tamis.exact: BF.RESERVE makes the filters of that one */
    int kind;                   /* tamis.kind: enum tamis_kind, blocked or bloom */
    long long default_capacity; /* tamis.default-capacity */
    struct ratio default_rate;  /* tamis.default-rate */
    long long expansion;        /* tamis.expansion */
    long long max_bytes;        /* tamis.max-bytes */
    long long max_open;         /* tamis.max-open; its standard is what the system allows */
    long long share_from;       /* tamis.share-from: what is larger goes to the store */
    long long memory_max;       /* tamis.memory-max: from there on clients wait for that */
    struct ratio tightening;    /* tamis.tightening-ratio */
    int random_seed;            /* tamis.use-random-seed */
    long long memory_limit;     /* tamis.memory-usage-limit */
    long long cf_capacity, cf_bucket_size, cf_max_iterations, cf_expansion, cf_max_expansions;
};

extern struct config config;

/* Does BF.* make the filters of valkey-bloom? */
static inline bool config_makes_valkey(void)
{
    return config.like == LIKE_VALKEY && config.exact;
}

/* What comes after "tamis." in our name of a setting that valkey-bloom has as "bf.NAME", or
 * RedisBloom as "bf-NAME" or "cf-NAME"; NULL: there is none. */
const char *config_alias(const char *name);
/* The server has RedisBloom's names itself: they are no aliases. */
void config_keep_old_names(void);

/*
 * Do filters have limits now?  What was taken once has none: while the server loads its own dump or
 * AOF, and on a replica to which the master alone writes.  (Redis has none there either, by its
 * mustObeyClient().)
 */
bool config_has_limits(void);
/* The most bytes that a filter may be made with now: tamis.max-bytes, or INT64_MAX without
 * limits. */
uint64_t config_max_bytes(void);

/* Reads a setting of the server, such as "dbfilename".  Returns its bytes; 0 if it has none, or it
 * does not fit. */
size_t config_of_server(RedisModuleCtx *ctx, const char *name, char *text, size_t room);

/* Reads the argument of loadmodule that says how the module is called.  Comes first. */
void config_name_module(RedisModuleString **argv, int argc);
/* Reads the arguments of loadmodule and registers the settings; old_names.h loads what redis.conf
 * says.  REDISMODULE_ERR: an argument is wrong; the log says which. */
int config_load(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);

/* A setting that is a number of the struct config, at `offset`.  RedisBloom calls it `old`, and
 * once called it `older`, and valkey-bloom calls it bf.`bloom`; NULL: it has no such setting. */
struct numeric {
    const char *name, *old, *older, *bloom;
    long long standard, least, most;
    unsigned flags;
    size_t offset;
};

/* All of them, and the place of one. */
const struct numeric *config_numbers(size_t *count);
long long *config_place(const struct numeric *n);

/* Sets tamis.default-rate, as a server calls it.  `data` is not looked at. */
RedisModuleSetStringFunc config_set_rate;
