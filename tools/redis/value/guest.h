/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guest.h: the filters of valkey-bloom, as the rest of the module sees them.
 *
 * A build may leave out the folder valkey/, which makes these filters.  Then `guest` is NULL, no
 * value has HOME_VALKEY, and tamis.like has one word only.
 */
#pragma once

#include "value/value.h"

#define VALKEY_SEED_BYTES 32u

/* What is told when a filter cannot be made. */
#define VALKEY_TOO_LARGE "ERR operation exceeds bloom object memory limit"
#define VALKEY_NO_MEMORY "ERR Insufficient memory to create filter"

struct valkey_shape {
    double rate, tightening;
    int64_t capacity;   /* of the first layer */
    uint32_t expansion; /* 0: it does not grow */
    bool random;        /* the seed was drawn */
    uint8_t seed[VALKEY_SEED_BYTES];
};

/* A layer of a filter of BF.*, as BF.DEBUG tells it. */
struct told {
    uint64_t bytes, bits, capacity, items;
    uint32_t hashes;
    double rate;
};

struct adding; /* commands/bf_parts.h */

struct guest {
    const uint8_t *fixed_seed; /* of filters that are made without a random one */
    /* What a value does. */
    void (*free)(struct valkey *valkey);
    struct valkey *(*copy)(const struct valkey *from);
    bool (*contains)(const struct valkey *valkey, const char *item, size_t bytes);
    int64_t (*items)(const struct valkey *valkey);
    uint64_t (*size_bytes)(const struct valkey *valkey);
    /* Dumps and the AOF. */
    void *(*load)(RedisModuleIO *rdb, int encver);
    void (*save)(RedisModuleIO *rdb, const struct valkey *valkey);
    bool (*emit)(RedisModuleIO *aof, RedisModuleString *key, const struct valkey *valkey);
    void (*digest)(RedisModuleDigest *to, const struct valkey *valkey);
    /* BF.INFO and BF.DEBUG; false: the filter has fewer layers. */
    struct valkey_shape (*shape)(const struct valkey *valkey);
    bool (*layer)(const struct valkey *valkey, uint32_t i, struct told *layer);
    int64_t (*most_keys)(const struct valkey_shape *shape, int64_t wanted, const char **error);
    /* BF.RESERVE and BF.INSERT with the words of valkey-bloom; is a word one that RedisBloom does
     * not have? */
    RedisModuleCmdFunc *reserve, *insert;
    bool (*has_word)(const RedisModuleString *arg);
    /* Makes the filter of an empty key.  Replies, and returns NULL, if that fails. */
    struct value *(*make)(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
                          struct adding *adding);
    /* Adds items; `made`: the filter was made for them. */
    void (*add)(RedisModuleCtx *ctx, const struct value *value, RedisModuleString **argv,
                RedisModuleString **items, int count, bool single, bool made);
    /* Tells replicas of a filter that was made with no items. */
    void (*tell_made)(RedisModuleCtx *ctx, RedisModuleString *name, const struct valkey *valkey);
};
extern const struct guest *guest;
