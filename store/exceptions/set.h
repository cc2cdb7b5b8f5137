/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * set.h: keys that answer absent whatever the bits say, in their two shapes.
 *
 *     the set     in memory: what changes are made to
 *     the index   of the set, a file like a segment (kind 5, docs/format.md 3.7), mapped by each
 *                 handle
 *
 * A query asks the index, and only for keys to which the bits say yes.  The catalog has the index's
 * number and its count alone: ten million keys are read, sorted and written without its lock, and
 * what is done under the lock takes as long for them as for one.
 */
#ifndef TAMIS_STORE_EXCEPTIONS_H
#define TAMIS_STORE_EXCEPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tamis_build.h"
#include "txn/store.h"

/* ---- The set --------------------------------------------------------------------------------- */

struct tamis__exception {
    const uint8_t *key;  /* the set's own copy */
    uint64_t generation; /* 0: set by hand; else the generation whose build found it; or both, see
                            below */
    uint32_t bytes;
    uint32_t gone; /* to be taken out by what marked it */
};

/* In `generation`: set by hand, and found by the build of that generation too.  When another
 * generation is in force it is one by hand still; taken off by hand it is none, until the
 * generation is in force again. */
#define TAMIS__BY_HAND_TOO (UINT64_C(1) << 63)

static inline bool tamis__exception_by_hand(const struct tamis__exception *e)
{
    return e->generation == 0 || (e->generation & TAMIS__BY_HAND_TOO) != 0;
}

/* The generation that found it; 0: none. */
static inline uint64_t tamis__exception_found_by(const struct tamis__exception *e)
{
    return e->generation & ~TAMIS__BY_HAND_TOO;
}

struct tamis__arena_block;

/* All zero is the empty set.  Not for two threads at a time, unless both only read. */
struct tamis__exceptions {
    struct tamis__exception *entries; /* [0, settled) in order of their bytes, each key once */
    size_t count, settled, room;
    struct tamis__arena_block *arena;
};

void tamis__exceptions_clear(struct tamis__exceptions *set);

/* Append a copy of a key; the set is to be settled after the last.  0, TAMIS_EINVAL (too long,
 * NULL), TAMIS_ENOMEM. */
int tamis__exceptions_add(struct tamis__exceptions *set, const void *key, size_t bytes,
                          uint64_t generation);
/* Append all of another set. */
int tamis__exceptions_add_set(struct tamis__exceptions *set, const struct tamis__exceptions *other);

/* Bring it in order.  A key that is there several times becomes one: by hand if any of them was,
 * found by the highest generation of them.  0, or TAMIS_ELIMIT: more than TAMIS_EXCEPTIONS_MAX are
 * left. */
int tamis__exceptions_settle(struct tamis__exceptions *set);

/* These need a settled set.  NULL where the key is none. */
const struct tamis__exception *tamis__exceptions_find(const struct tamis__exceptions *set,
                                                      const void *key, size_t bytes);
/* Returns how many of the keys were in it; answers NULL, or answers[i]: 1 if keys[i] was, and had
 * not come before in `keys`. */
size_t tamis__exceptions_remove(struct tamis__exceptions *set, const struct tamis_key *keys,
                                size_t count, uint8_t *answers);
/* Leave those by hand; returns how many are taken out. */
size_t tamis__exceptions_drop_found(struct tamis__exceptions *set);
/* Leave those that a build found; returns how many are taken out. */
size_t tamis__exceptions_drop_by_hand(struct tamis__exceptions *set);
size_t tamis__exceptions_count_by_hand(const struct tamis__exceptions *set);
size_t tamis__exceptions_count_found(const struct tamis__exceptions *set);
/* Are they the same keys, of the same generations? */
bool tamis__exceptions_equal(const struct tamis__exceptions *a, const struct tamis__exceptions *b);

/* ---- The index ------------------------------------------------------------------------------- */

extern const struct tamis__kind tamis__kind_exceptions; /* check and verify, nothing else */

/* Bytes of the data of the index of a settled set; then the data, all of it, into 8-aligned memory.
 * */
uint64_t tamis__index_bytes(const struct tamis__exceptions *set);
void tamis__index_encode(const struct tamis__exceptions *set, void *data);

/*
 * Once a mapping, before anything below: does what the data begin with go with the header and with
 * each other?  After that no query leaves the data, whatever is in them.  0, or TAMIS_ECORRUPT with
 * *reason. The checksum of a small index is held against its data too.
 */
int tamis__index_check(const struct tamis__segment *index, const char **reason);

/* Is the key in it?  From any thread; takes no lock. */
bool tamis__index_has(const struct tamis__segment *index, const void *key, size_t bytes);
/* answers[i] that are not 0 become 0 where keys[i] is in it; returns how many did. */
size_t tamis__index_strike(const struct tamis__segment *index, const struct tamis_key *keys,
                           size_t count, uint8_t *answers);

/* All of it: 0, or 1 with what is wrong and at which byte of the file. */
int tamis__index_verify(const struct tamis__segment *index, uint64_t *offset, const char **reason);
/* Of a checked index: how many keys it has, and how many of them a build found. */
uint64_t tamis__index_count(const struct tamis__segment *index);
uint64_t tamis__index_found(const struct tamis__segment *index);
/* Add all that is in a checked index to an empty set, and settle that.  0, TAMIS_ENOMEM,
 * TAMIS_ECORRUPT with the sentence. */
int tamis__exceptions_from_index(struct tamis__exceptions *set, const struct tamis__segment *index);

/*
 * Make the index of a settled set in staging/, filled and settled: all of its header is there but
 * number, filter_id, publication and generation.  Nothing is staged after an error.  Takes no lock.
 */
int tamis__exceptions_stage(struct tamis_store *store, const struct tamis__exceptions *set,
                            const char *name, struct tamis__draft *draft);

/* Map index `number`, read-only, and check it.  Given back by tamis__close_segment().  Errors as
 * tamis__map_segment(). */
int tamis__open_index(struct tamis_store *store, uint64_t number, uint64_t filter_id,
                      struct tamis__store_segment *index);

/*
 * What a record has of exceptions: open under the catalog's lock (0 too where there are none:
 * reading then gives an empty set), read when
 * the lock is given back, which is what may take long.  Reading holds the whole index against its
 * checksum, and closes it; errors name the file.  An index that was opened and is not read is given
 * back by tamis__exceptions_leave().
 */
struct tamis__exceptions_source {
    struct tamis__store_segment index;
    bool open;
};
int tamis__exceptions_open(struct tamis_store *store, const struct tamis__record *record,
                           struct tamis__exceptions_source *source);
int tamis__exceptions_read(struct tamis_store *store, struct tamis__exceptions_source *source,
                           struct tamis__exceptions *set);
void tamis__exceptions_leave(struct tamis__exceptions_source *source);

#endif
