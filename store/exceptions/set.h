/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * set.h: exceptions: keys that answer "absent" whatever the bits say.  They have two forms:
 *
 *     the set     in memory; changes are made to it
 *     the index   made from the set: a file like a segment (kind 5, docs/format.md 3.7), which each
 *                 handle maps (index.h)
 *
 * A query asks the index, and only for keys to which the bits say yes.  The catalog has only the
 * index's number and its count.  So ten million keys are read, sorted and written without the
 * catalog's lock, and the work under the lock takes as long for them as for one.
 */
#pragma once

#include "kind/kind.h"
#include "tamis_build.h"

struct tamis__exception {
    const uint8_t *key;  /* the set's own copy */
    uint64_t generation; /* 0: set by hand; else the generation whose build found it; or both, see
                            below */
    uint32_t bytes;
    uint32_t gone; /* not 0: to be removed by the call that set this */
};

/* A flag in `generation`: the key was set by hand, and the build of that generation found it too.
 * When another generation is in force, it is still an exception by hand.  If it is taken off by
 * hand, it is no exception until that generation is in force again. */
#define TAMIS__BY_HAND_TOO (UINT64_C(1) << 63)

static inline bool tamis__exception_by_hand(const struct tamis__exception *e)
{
    return e->generation == 0 || (e->generation & TAMIS__BY_HAND_TOO) != 0;
}

/* Returns the generation whose build found the key; 0 if none did. */
static inline uint64_t tamis__exception_found_by(const struct tamis__exception *e)
{
    return e->generation & ~TAMIS__BY_HAND_TOO;
}

struct tamis__arena_block;

/* All zero is the empty set.  Two threads must not use it at a time, unless both only read. */
struct tamis__exceptions {
    struct tamis__exception *entries; /* [0, sorted) in order of their bytes, each key once */
    size_t count, sorted, room;
    struct tamis__arena_block *arena;
};

void tamis__exceptions_clear(struct tamis__exceptions *set);

/* Appends a copy of a key; call tamis__exceptions_sort() after the last.  Returns 0, TAMIS_EINVAL
 * (too long, or NULL) or TAMIS_ENOMEM. */
int tamis__exceptions_add(struct tamis__exceptions *set, const void *key, size_t bytes,
                          uint64_t generation);
/* Compares two keys in the order of the set and of the index, that of their bytes. */
int tamis__exceptions_compare(const void *a, size_t a_bytes, const void *b, size_t b_bytes);
/* Does the key stand behind all that were added, in the order of a sorted set? */
bool tamis__exceptions_end_before(const struct tamis__exceptions *set, const void *key,
                                  size_t bytes);
/* Appends all of another set. */
int tamis__exceptions_add_set(struct tamis__exceptions *set, const struct tamis__exceptions *other);

/* Sorts the set.  A key that is there several times becomes one: by hand if any of them was, and
 * found by the highest generation of them.  Returns 0, or TAMIS_ELIMIT if more than
 * TAMIS_EXCEPTIONS_MAX are left. */
int tamis__exceptions_sort(struct tamis__exceptions *set);

/* The next calls need a sorted set.  Returns NULL if the key is not in it. */
const struct tamis__exception *tamis__exceptions_find(const struct tamis__exceptions *set,
                                                      const void *key, size_t bytes);
/* Is each key of `a` also in `b`, by hand or found, as `by_hand` asks? */
bool tamis__exceptions_all_in(const struct tamis__exceptions *a, const struct tamis__exceptions *b,
                              bool by_hand);
/* Removes keys and returns how many of them were in the set.  answers: NULL, or answers[i] becomes
 * 1 if keys[i] was in it, and had not come before in `keys`. */
size_t tamis__exceptions_remove(struct tamis__exceptions *set, const struct tamis_key *keys,
                                size_t count, uint8_t *answers);
/* Keeps the exceptions set by hand; returns how many are removed. */
size_t tamis__exceptions_drop_found(struct tamis__exceptions *set);
/* Keeps the exceptions that a build found; returns how many are removed. */
size_t tamis__exceptions_drop_by_hand(struct tamis__exceptions *set);
size_t tamis__exceptions_count_by_hand(const struct tamis__exceptions *set);
size_t tamis__exceptions_count_found(const struct tamis__exceptions *set);
