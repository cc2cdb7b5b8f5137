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
enum kind { KIND_BLOCKED, KIND_BLOOM };
enum like { LIKE_REDISBLOOM, LIKE_VALKEY };

/* A setting that is a number between 0 and 1, both excluded. */
struct ratio {
    double value;
    char *text; /* as it was set */
};

struct config {
    int module;                 /* module-name: settings_module_name() */
    char *store;                /* tamis.store */
    int rdb;                    /* tamis.rdb: enum rdb_mode */
    int drop_orphans;           /* tamis.drop-orphans: enum drop_orphans */
    int restore;                /* tamis.restore: enum restore, what wins over the other */
    int attach_only;            /* tamis.attach-only: another server owns the store */
    int like;                   /* tamis.like: enum like, whose answers BF.* gives */
    int exact;                  /* tamis.exact: BF.RESERVE makes the filters of that one */
    int kind;                   /* tamis.kind: enum kind */
    long long default_capacity; /* tamis.default-capacity */
    struct ratio default_rate;  /* tamis.default-rate */
    long long expansion;        /* tamis.expansion */
    long long max_bytes;        /* tamis.max-bytes */
    long long max_open;         /* tamis.max-open; its standard is what the system allows */
    long long share_from;       /* tamis.share-from: what is larger goes to the store */
    long long memory_max;       /* tamis.memory-max: from there on clients wait for that */
    struct ratio tightening;    /* tamis.tightening-ratio */
    int random_seed;            /* tamis.use-random-seed */
    int ignored;                /* what has no effect here */
    long long memory_limit;     /* tamis.memory-usage-limit */
    long long cf_capacity, cf_bucket_size, cf_max_iterations, cf_expansion, cf_max_expansions;
};

extern struct config config;

/* Does BF.* make the filters of valkey-bloom? */
static inline bool config_makes_valkey(void)
{
    return config.like == LIKE_VALKEY && config.exact;
}

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

#define FIELD_ROOM 512

/* Reads a field of a section of INFO, such as "redis_version" of "server".  False: the server has
 * no such field, or it is longer; then the text is empty. */
bool server_field(RedisModuleCtx *ctx, const char *section, const char *name,
                  char text[FIELD_ROOM]);
