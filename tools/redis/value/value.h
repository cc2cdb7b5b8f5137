/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * value.h: the value of a key: a handle on a filter of the store, or a filter in memory: the slots
 * of a cuckoo filter (exact.h), or a filter of valkey-bloom (valkey.h).
 *
 * The registry (registry.h) lists all values that have a filter.  The server's main thread uses a
 * value; Redis may free it in another thread.
 *
 * The life of a value says where its filter came from, and so what becomes of the filter when the
 * key goes:
 *
 *     a command       a dump           the store         a process made it,
 *     made it         brought it       had it            or TAMIS.DETACH
 *         |               |                |                   |
 *         v               v   rejoin.c     v                   v       the key goes
 *       MADE           LOADED ---------> FOUND              OTHERS -----------------> LEFT
 *         |                                ^                   ^  <------------------
 *         +--------------------------------+                   |    RENAME or MOVE end
 *         |           rejoin.c             |                   |
 *         +---------- TAMIS.DETACH --------+-------------------+
 *
 *     MADE, LOADED, FOUND   The filter is ours.  When the key goes, kept.c drops it, or keeps
 *                           it for a while.  If another value takes the filter over before
 *                           that (kept_take_back()), this one becomes LEFT.
 *     OTHERS, LEFT          The filter stays in the store when the key goes.
 *
 * Once all is loaded, MADE, LOADED and FOUND are treated alike.  The names of filters are no part
 * of this: naming.c compares a filter's name with that of its key.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "server/names.h"
#include "server/redis_api.h"
#include "value/cuckoo.h"
#include "value/table.h"

enum type { TYPE_BLOOM, TYPE_CUCKOO, TYPES, TYPE_ANY = TYPES };

enum life {
    LIFE_MADE,   /* a command has made the filter, or will do so */
    LIFE_LOADED, /* a dump brought what the filter had at first */
    LIFE_FOUND,  /* the store had the filter when the server began */
    LIFE_OTHERS, /* the filter is not this server's: it stays in the store when the key goes */
    LIFE_LEFT,   /* the same, and the key is gone: another key may have the filter now */
};

/* What is known of a filter whose handle is closed, from when it was closed. */
struct known {
    uint64_t bytes, items;
    uint64_t size_bytes; /* value_size_bytes() */
    uint32_t segments;
    bool unclean, degraded;
};

struct kept;

enum light { LIGHT_UNKNOWN, LIGHT_LIT, LIGHT_NONE }; /* light.h */

/* There may be a million of these: value.c holds how large one may be. */
struct value {
    /* All that a question to a closed filter reads (light.h) is in the first cache line. */
    tamis_filter *filter; /* NULL: closed (handles.h), or none */
    struct draft *draft;  /* drafts.h: the filter is not in the store yet; NULL: it is */
    union {
        struct {
            struct value *newer, *older; /* in the ring of handles.c, if in_ring */
        };
        struct tamis_light light; /* if `lit` is LIGHT_LIT */
    };
    enum type type : 8;
    enum life life : 8;
    enum light lit : 8;
    bool in_ring;
    bool is_stored;  /* it has a name */
    bool in_tables;  /* by_name, if it has a name, and by_time */
    bool is_entered; /* handles.c counts it if it is open */
    bool in_use;     /* since the ring last looked */
    uint8_t queue;   /* of renames.c, that it is in */
    bool is_known;   /* handles.c has looked at it, and at most keys have come since */
    bool is_broken;  /* it could not be opened, when that was tried last */
    bool was_open;   /* since this server began; else nobody here has written to it */
    bool durable;    /* an add waits for the disk: durable.h */
    bool exact;      /* hash set redisbloom and no key rule: the bits are RedisBloom's */
    bool as_valkey;  /* of the type bloomfltr, which valkey-bloom's keys have */
    bool is_still;   /* still.h: nothing is to be written just now */
    bool is_nowhere; /* its database is emptied, and nothing of it is in the store */
    bool is_moved;   /* atomic; moves.h: the name that its filter is to get is noted */
    int db;
    struct value *next, **link;           /* the registry's list; link is NULL outside of it */
    struct node by_key, by_name, by_time; /* in the registry's tables */
    struct kept *kept;                    /* kept.c; atomic: value_is_gone() */
    struct value *later, **later_link;    /* in a list of renames.c; the link is NULL outside */
    char *key;                            /* as the registry last saw it, key_bytes bytes */
    size_t key_bytes;
    const char *name;   /* value_set_name() */
    struct known known; /* also of a draft */
    int64_t created_at; /* of the filter; a dump that refers to a filter finds it by this */
    int64_t origin;     /* when its first segment was made; a copy by way of a dump has the same */
    uint32_t kind;
    unsigned pins;       /* kept_pin() */
    struct line *line;   /* of its jobs; NULL: it had none yet */
    uint32_t expansion;  /* BF.*: 0 means NONSCALING */
    unsigned keeps_name; /* kept_pin_named() */
    struct cuckoo cuckoo;
    uint8_t **slots;       /* exact.h; NULL: of kind counting */
    struct valkey *valkey; /* valkey.h; NULL: it is none of these */
    char *arriving;        /* what CF.LOADCHUNK has brought of it so far */
    union {
        size_t arriving_room;
        size_t awaited; /* of a value for which a thread makes a filter of all that has arrived */
    };
    size_t arrived;
};

/* The data types; persist/types.c makes them.  Keys of BF.* have one of two. */
extern RedisModuleType *value_types[TYPES], *value_type_of_valkey;
RedisModuleType *value_type_of(const struct value *value);

struct value *value_new(enum type type);
/* Sets what the filter is called now; "": it has none in the store.  A name that is that of the key
 * takes no memory.  For a value that the registry has: registry_set_name(). */
void value_set_name(struct value *value, const char *name);
/* Sets the key, and leaves the name. */
void value_set_key(struct value *value, const char *key, size_t key_bytes);
/* Fills in what the library tells of the filter: created_at, origin, kind, durable, exact,
 * expansion.  TAMIS_EINVAL: a key of this type cannot have a filter of that kind. */
int value_describe(struct value *value);
/* Takes the filter, its name and what value_describe() has told of it from another value, which is
 * not listed either. */
void value_take_filter(struct value *value, struct value *from);
/* Marks all segments of a filter as written to, so that who writes into them does
 * not wait for that. */
void value_mark(tamis_filter *filter);
/* Frees a value that the registry does not have. */
void value_free(struct value *value);

/* Frees what CF.LOADCHUNK has brought so far. */
void value_forget_arrived(struct value *value);

/* The items of a filter of BF.*, or an error. */
int64_t value_items(const struct value *value);
/* What a stat has of it. */
struct known known_from(const struct tamis_filter_stat *stat);
/* What the library tells of a filter that is open, or told when it was closed. */
struct known value_known(const struct value *value);
/* What BF.INFO calls its size: 32 bytes, 64 for each segment, and their data. */
uint64_t value_size_bytes(const struct value *value);

/* What the kind of the filter can do (enum tamis_kind_property). */
static inline bool value_counts(const struct value *value)
{
    return tamis_kind_has(value->kind, TAMIS_KIND_COUNTS) != 0;
}
/* Are the bits of a filter RedisBloom's?  A filter with a key rule has other keys. */
static inline bool value_is_of_redisbloom(const struct tamis_filter_stat *stat)
{
    return strcmp(stat->hash_set, "redisbloom") == 0 && strcmp(stat->key_rule, "bytes") == 0;
}
static inline bool value_is_static(const struct value *value)
{
    return tamis_kind_has(value->kind, TAMIS_KIND_IS_STATIC) != 0;
}

/* Has it a filter of the store, open or closed?  Else it is in memory. */
static inline bool value_is_stored(const struct value *value)
{
    return value->is_stored;
}

/* Is its key gone?  Another thread may say so at any moment. */
static inline bool value_is_gone(const struct value *value)
{
    return __atomic_load_n(&value->kept, __ATOMIC_ACQUIRE) != NULL;
}

/* The same, or is it about to go with nothing of it in the store?  FLUSHALL ASYNC has forgotten
 * drafts whose values another thread will release: the store may have other filters of their names.
 */
static inline bool value_is_over(const struct value *value)
{
    return value_is_gone(value) || value->is_nowhere;
}

/* Does this server drop the filter when the key goes? */
static inline bool value_is_ours(const struct value *value)
{
    return value->life < LIFE_OTHERS;
}
