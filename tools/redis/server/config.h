/* SPDX-License-Identifier: BSD-2-Clause */
/* config.h: what the operator says: CONFIG tamis.NAME, and the same names as arguments of
 * loadmodule. */
#pragma once

#include "server/redis_api.h"

enum rdb_mode { RDB_CONTENT, RDB_REFERENCE };
enum drop_orphans { ORPHANS_AUTO, ORPHANS_YES, ORPHANS_NO };

struct config {
    char *store;                /* tamis.store */
    int rdb;                    /* tamis.rdb: enum rdb_mode */
    int drop_orphans;           /* tamis.drop-orphans: enum drop_orphans */
    int exact;                  /* tamis.exact: BF.RESERVE makes RedisBloom's own filters */
    int kind;                   /* tamis.kind: enum tamis_kind, blocked or bloom */
    long long default_capacity; /* tamis.default-capacity */
    double default_rate;        /* tamis.default-rate */
    char *default_rate_text;    /* as it was set */
    long long expansion;        /* tamis.expansion */
    long long max_bytes;        /* tamis.max-bytes */
    long long cf_capacity, cf_bucket_size, cf_max_iterations, cf_expansion, cf_max_expansions;
};

extern struct config config;

/*
 * The most bytes that a filter may be made with now: tamis.max-bytes.  There is no such limit, and
 * INT64_MAX is returned, for what was taken once: while the server loads its own dump or AOF, and
 * on a replica to which the master alone writes.  (Redis has no limits there either, by its
 * mustObeyClient().)
 */
uint64_t config_max_bytes(void);

/* Reads a setting of the server, such as "dbfilename".  Returns its bytes; 0 if it has none, or it
 * does not fit. */
size_t config_of_server(RedisModuleCtx *ctx, const char *name, char *text, size_t room);

/* Reads the arguments of loadmodule, registers the settings and loads what redis.conf says.
 * REDISMODULE_ERR: one of them is wrong; the log says which. */
int config_load(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
