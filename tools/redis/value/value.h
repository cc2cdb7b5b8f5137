/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * value.h: the value of a key (docs/redis-internals.md has its life in a picture).
 *
 * A value has one of these homes, which says what the union points to:
 *
 *     MEMORY   bits in the server's memory (memory.h)
 *     CUCKOO   RedisBloom's cuckoo filter, in memory (exact.h): all of CF.*
 *     VALKEY   a filter of valkey-bloom, in memory (valkey/valkey.h)
 *     STORE    a filter of the store, which has an id of 128 random bits for life (stored.h)
 *     BROKEN   a dump refers to a filter that the store lacks (stored.h)
 *
 * The main thread alone reads and writes a value, but for free(), which may run in a thread of the
 * server.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "server/redis_api.h"
#include "tamis.h"
#include "tamis_labels.h"

enum type { TYPE_BLOOM, TYPE_CUCKOO, TYPES, TYPE_ANY = TYPES };
enum home { HOME_MEMORY, HOME_CUCKOO, HOME_VALKEY, HOME_STORE, HOME_BROKEN, HOMES };

/* 128 random bits. */
struct id {
    uint8_t bytes[TAMIS_ID_BYTES];
};

struct value {
    enum type type : 8;
    enum home home : 8;
    bool as_valkey;     /* of the type bloomfltr, which valkey-bloom's keys have */
    bool exact;         /* hash set redisbloom, no key rule: RedisBloom's bits */
    uint32_t expansion; /* BF.*: 0 means NONSCALING */
    union {
        struct memory *memory;
        struct exact *cuckoo;
        struct valkey *valkey;
        struct stored *stored;
    };
};

/* The data types; persist/types.c makes them.  Keys of BF.* have one of two. */
extern RedisModuleType *value_types[TYPES], *value_type_of_valkey;
RedisModuleType *value_type_of(const struct value *value);

/* Draws an id.  Main thread. */
struct id id_draw(void);
static inline bool id_is(const struct id *a, const struct id *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* The digits of an id; `name` has them, behind the name that a filter of the id begins with. */
const char *id_digits(const struct id *id, char name[TAMIS_ID_NAME_BYTES]);
/* Reads the digits that a text begins with. */
bool id_read(const char *text, struct id *id);

/* A value with no home yet: the union is NULL. */
struct value *value_new(enum type type);

/* How many values there are, by their homes.  Any thread. */
uint64_t value_count(enum home home);
/* The value gets, or changes, its home. */
void value_settle(struct value *value, enum home home, void *content);
/* It has none any more.  Any thread. */
void value_leave(const struct value *value);

static inline bool value_is_stored(const struct value *value)
{
    return value->home == HOME_STORE;
}
