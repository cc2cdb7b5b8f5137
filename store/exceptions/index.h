/* SPDX-License-Identifier: BSD-2-Clause */
/* index.h: the index of a filter's exceptions, the form that stands in a file (set.h). */
#pragma once

#include "exceptions/set.h"

#define TAMIS__INDEX_FIELDS(FIELD, s)                                                              \
    FIELD(s, 0, uint64_t, count, , "n exceptions; capacity is n, or 1")                            \
    FIELD(s, 8, uint64_t, slots, , "t, a power of two, at least 8 and at least 2 n")               \
    FIELD(s, 16, uint64_t, records_bytes, , "r: data_bytes = 64 + 8 t + r")                        \
    FIELD(s, 24, uint64_t, found, , "exceptions that a build has found, at most n")                \
    FIELD(s, 32, uint8_t, reserved, [32], "reserved")
TAMIS__FILE_STRUCT(tamis__index_head, TAMIS__INDEX_FIELDS, 64);

extern const struct tamis__kind tamis__kind_exceptions; /* has check and verify, and nothing else */

/* Returns the bytes of the index data for a sorted set.  The second call writes the data into
 * memory that is aligned to 8 bytes. */
uint64_t tamis__index_bytes(const struct tamis__exceptions *set);
void tamis__index_encode(const struct tamis__exceptions *set, void *data);

/*
 * Call once for each mapping, before any call below: do the first fields of the data agree with the
 * header and with each other?  After that no query leaves the data, whatever is in them.  Returns
 * 0, or TAMIS_ECORRUPT with *reason.  The checksum of a small index is also compared with its data.
 */
int tamis__index_check(const struct tamis__segment *index, const char **reason);

/* Is the key in the index?  May be called from any thread; takes no lock. */
bool tamis__index_has(const struct tamis__segment *index, const void *key, size_t bytes);
/* Each answers[i] that is not 0 becomes 0 if keys[i] is in the index.  Returns how many did. */
size_t tamis__index_strike(const struct tamis__segment *index, const struct tamis_key *keys,
                           size_t count, uint8_t *answers);

/* Checks the whole index: returns 0, or 1 with what is wrong and at which byte of the file. */
int tamis__index_verify(const struct tamis__segment *index, uint64_t *offset, const char **reason);
/* For a checked index: how many keys it has, and how many of them a build found. */
uint64_t tamis__index_count(const struct tamis__segment *index);
uint64_t tamis__index_found(const struct tamis__segment *index);
/* Calls fn for each exception of a checked index, in the order of their bytes, until it returns
 * other than 0; the key is part of the index.  Returns what fn returned, or TAMIS_ECORRUPT with the
 * sentence. */
typedef int tamis__index_fn(void *context, const struct tamis__exception *exception);
int tamis__index_each(const struct tamis__segment *index, tamis__index_fn *fn, void *context);
/* Adds all keys of a checked index to an empty set, and sorts the set.  Returns 0, TAMIS_ENOMEM, or
 * TAMIS_ECORRUPT with the sentence. */
int tamis__exceptions_from_index(struct tamis__exceptions *set, const struct tamis__segment *index);

/* What can be done about a damaged index. */
#define TAMIS__INDEX_MEND                                                                          \
    "; restore it from a copy, or go on without the exceptions by 'tamis repair --rebuild'"

/* Do the data of a checked index have the checksum that they should have? */
bool tamis__index_sum_is_right(const struct tamis__segment *index);
