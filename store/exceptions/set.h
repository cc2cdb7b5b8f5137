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
#ifndef TAMIS_EXCEPTIONS_SET_H
#define TAMIS_EXCEPTIONS_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kind/kind.h"
#include "tamis_build.h"

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

/* What can be done about a damaged index. */
#define TAMIS__INDEX_MEND                                                                          \
    "; restore it from a copy, or go on without the exceptions by 'tamis repair --rebuild'"

/* Do the data of a checked index have the checksum that they should have? */
bool tamis__index_sum_is_right(const struct tamis__segment *index);

#endif
