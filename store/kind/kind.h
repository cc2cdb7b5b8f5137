/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kind.h: how a kind of filter works, behind one table; nothing else switches on the kind.
 *
 * A kind sees one segment at a time.  The header of the segment says its geometry, and its data
 * are the bits.  The calls below take no lock.  add_batch counts the new items itself, in small
 * groups, so that little is uncounted when the process is killed in a long batch.  After add
 * the caller counts.
 */
#pragma once

#include "kind/points.h"
#include "segment/room.h"
#include "sizing/kinds.h"

/* The kind of the index of a filter's exceptions (store/exceptions/set.h).  Its file is like a
 * segment but is no filter, so tamis__kind_by_id() does not know it. */
#define TAMIS__KIND_EXCEPTIONS 5u

/* Which keys of two filters the merged filter has. */
enum tamis__merge_rule { TAMIS__MERGE_UNION, TAMIS__MERGE_INTERSECTION };

/* Segments that are asked at once.  They are few, and small: a key that one has is asked for in all
 * of them, so their lines must be cheap. */
#define TAMIS__TOGETHER_MAX 8u
#define TAMIS__TOGETHER_BYTES ((uint64_t)8 << 20)

/* `count` words of the data, from word `first` on. */
struct tamis__words {
    uint64_t first, count;
};

/* The calls for one key whose digest is known, made for one geometry. */
struct tamis__by_digest {
    int (*add)(const struct tamis__segment *segment, struct tamis__digest digest);
    int (*contains)(const struct tamis__segment *segment, struct tamis__digest digest);
};

/* Each kind has a table of this sort in its own file, so that one table says all that a kind can
 * do. So the tables look alike. */
struct tamis__kind {
    uint32_t id; /* enum tamis_kind, as in the files */

    /* Does the header describe a geometry of this kind?  Returns 0, TAMIS_ECORRUPT or
     * TAMIS_EVERSION; *reason is a clause that fits behind the name of the file. */
    int (*check)(const struct tamis__segment_header *header, const char **reason);

    /* Returns 1 if the key was new; of racing adders at most one is told so.  Returns an error, and
     * does nothing, only if counters need room and there is none. */
    int (*add)(const struct tamis__segment *segment, const void *key, size_t key_bytes);
    int (*contains)(const struct tamis__segment *segment, const void *key, size_t key_bytes);
    /* Has the processor bring what the two calls above would read of the data into its caches, and
     * does not wait for it. */
    void (*fetch)(const struct tamis__segment *segment, const void *key, size_t key_bytes);

    /* answers[i] is as above; returns the number of ones.  After an error the answer is
     * TAMIS_ANSWER_REFUSED for each key that was not added. */
    int64_t (*add_batch)(const struct tamis__segment *segment, const struct tamis_key *keys,
                         size_t count, uint8_t *answers);
    size_t (*contains_batch)(const struct tamis__segment *segment, const struct tamis_key *keys,
                             size_t count, uint8_t *answers);

    /* All NULL if no filter of the kind is durable or has several segments.  They work as the four
     * above, for keys with these digests, or pairs (hash_set.h); the segment's hash set must have
     * one of these.  by_digest returns NULL for a k that the kind does not have. */
    int64_t (*add_digests)(const struct tamis__segment *segment,
                           const struct tamis__digest *digests, size_t count, uint8_t *answers);
    size_t (*contains_digests)(const struct tamis__segment *segment,
                               const struct tamis__digest *digests, size_t count, uint8_t *answers);
    /* As contains_digests, where the segment is expected to have few of the keys. */
    size_t (*contains_few)(const struct tamis__segment *segment,
                           const struct tamis__digest *digests, size_t count, uint8_t *answers);
    const struct tamis__by_digest *(*by_digest)(const struct tamis__segment_header *header);
    /* NULL for static kinds.  As contains_batch; also, digests[i] becomes the digest, or pair, of
     * key i. */
    size_t (*contains_keeping)(const struct tamis__segment *segment, const struct tamis_key *keys,
                               size_t count, struct tamis__digest *digests, uint8_t *answers);

    /* NULL, or asks several segments at once, at most TAMIS__TOGETHER_MAX, which hash by one rule:
     * is the key in one of them?  For keys, or for digests; the other pointer is NULL.  `kept` is
     * NULL, or receives the digests of keys.  All data together are at most TAMIS__TOGETHER_BYTES.
     */
    size_t (*contains_together)(const struct tamis__segment *const *segments,
                                unsigned segment_count, const struct tamis_key *keys,
                                const struct tamis__digest *digests, size_t count, uint8_t *answers,
                                struct tamis__digest *kept);

    /* NULL but for kinds that count.  answers[i]: 1 if the key was there and is now removed
     * once.  counts[i]: how often the key was added and not removed, or more.  They return
     * the number of answers, or of counts, above 0.  The first two may return an error; then
     * the answer is TAMIS_ANSWER_REFUSED for each key that is not done.  The kind counts
     * items in both directions. */
    int64_t (*remove_batch)(const struct tamis__segment *segment, const struct tamis_key *keys,
                            size_t count, uint8_t *answers);
    int64_t (*remove_digests)(const struct tamis__segment *segment,
                              const struct tamis__digest *digests, size_t count, uint8_t *answers);
    int64_t (*count_batch)(const struct tamis__segment *segment, const struct tamis_key *keys,
                           size_t count, uint64_t *counts);

    /* NULL, or checks more than the header and the bits.  Returns 0, or 1 with what is
     * wrong and where. */
    int (*verify)(const struct tamis__segment *segment, uint64_t *offset, const char **reason);

    /* NULL, or brings a copy in order that was made word by word, from front to back, beside
     * writers.  Nobody else may know of the segment. */
    void (*mend_copy)(const struct tamis__segment *segment);

    /* NULL, or mends a segment of file_bytes bytes whose pages a power cut has left from different
     * instants.  Keys that were synced are in before and after.  May run beside readers, but beside
     * no writer.  Returns 0 or an error. */
    int (*mend)(const struct tamis__segment *segment, uint64_t file_bytes);

    /* Gets the k bit positions of a key, in the order of the hash set. */
    void (*positions)(const struct tamis__segment_header *header, const void *key, size_t key_bytes,
                      uint64_t *positions);
    /* NULL, or gets both for kinds in which they depend on the data: the k slots of a key, and its
     * hash values as text, cut at text_bytes.  Returns the length of the whole text.  `positions`
     * is NULL then. */
    size_t (*explain)(const struct tamis__segment *segment, const void *key, size_t key_bytes,
                      uint64_t *positions, char *text, size_t text_bytes);

    /* Counts the bits that are set (for a static kind the fingerprints that are not 0), and
     * computes the rate at which they would let a stranger in. */
    void (*measure)(const struct tamis__segment *segment, uint64_t *ones, double *fp_rate);

    /* Brings these words of `from` into `to`, which has the same geometry.  A union may run beside
     * any adder of either; an intersection only if nobody else knows of `to`.  Returns 0 or an
     * error.  merge and tally are NULL if filters of this kind cannot be merged. */
    int (*merge)(const struct tamis__segment *to, const struct tamis__segment *from,
                 enum tamis__merge_rule rule, struct tamis__words words);
    /* NULL if a merge can be repeated, and needs no room and has no limit.  Else it is called
     * before the merge, for all sources: it finds what would fail, and makes the room.  It
     * changes no answer. */
    int (*reserve)(const struct tamis__segment *to, const struct tamis__segment *const *from,
                   size_t count, struct tamis__words words);
    /* Adds to ones[0], [1] and [2] how many positions these words have set in a, in b,
     * and in either. */
    void (*tally)(const struct tamis__segment *a, const struct tamis__segment *b,
                  struct tamis__words words, uint64_t ones[3]);
};

/* Prefetches the bytes of a key, which may lie anywhere: the first and the last of its lines, and
 * those of a URL that is long. */
static inline __attribute__((always_inline)) void tamis__fetch_key(const struct tamis_key *key)
{
    const char *bytes = key->data; /* NULL at most if there are none */
    const size_t last = key->bytes - 1;
    if (key->bytes == 0) return;
    __builtin_prefetch(bytes, 0, 3);
    __builtin_prefetch(bytes + last, 0, 3);
    if (last < 128) return;
    __builtin_prefetch(bytes + 64, 0, 3);
    __builtin_prefetch(bytes + 128, 0, 3);
}

/* Prefetches a line of the data for a look that comes later: into the first cache, or, if `far`,
 * into the second (base/cpu.h). */
static inline __attribute__((always_inline)) void tamis__fetch_line(const void *line, bool far)
{
    if (far)
        __builtin_prefetch(line, 0, 2);
    else
        __builtin_prefetch(line, 0, 3);
}

/* The same for a line that will be written to. */
static inline __attribute__((always_inline)) void tamis__fetch_line_to_write(const void *line,
                                                                             bool far)
{
    if (far)
        __builtin_prefetch(line, 0, 2);
    else
        __builtin_prefetch(line, 1, 3);
}

/* A loop that hashes key by key fetches the bytes of a key this many keys before it hashes it. */
#define TAMIS__FETCH_AHEAD 8u

/* A batch counts its new items each time that it has handled this many keys.  About as many are
 * under way anyway. */
#define TAMIS__KEYS_A_COUNT 64u

/* Counts the items that are new since `counted`; returns what is counted now. */
static inline size_t tamis__count_new(const struct tamis__segment *segment, size_t ones,
                                      size_t counted)
{
    TAMIS__POINT(TAMIS__POINT_COUNT);
    if (ones > counted) (void)tamis__segment_count(segment, ones - counted);
    return ones;
}

/* Are the data as long as m bits, or m counters? */
static inline int tamis__check_length(const struct tamis__segment_header *header,
                                      const char **reason)
{
    const uint64_t data_bits = tamis__data_bits(header->m_bits, header->counter_bits);
    *reason = "has data of a length that its m contradicts";
    return header->data_bytes == tamis__data_bytes(data_bits) ? 0 : TAMIS_ECORRUPT;
}

/* For kinds whose data are m bits and nothing else: are the data that? */
static inline int tamis__check_bits(const struct tamis__segment_header *header, const char **reason)
{
    *reason = "has counters, which its kind has not";
    return header->counter_bits == 0 ? tamis__check_length(header, reason) : TAMIS_ECORRUPT;
}

/* Can this library use the hash set of the header, and is what the header says of the set whole? */
int tamis__check_hash_set(const struct tamis__segment_header *header, const char **reason);

/* merge and tally of kinds whose data are bits (bits.c). */
int tamis__bits_merge(const struct tamis__segment *to, const struct tamis__segment *from,
                      enum tamis__merge_rule rule, struct tamis__words words);
void tamis__bits_tally(const struct tamis__segment *a, const struct tamis__segment *b,
                       struct tamis__words words, uint64_t ones[3]);

/* merge, tally and reserve of kinds whose data are counters (cells_merge.c). */
int tamis__cells_merge(const struct tamis__segment *to, const struct tamis__segment *from,
                       enum tamis__merge_rule rule, struct tamis__words words);
int tamis__cells_reserve(const struct tamis__segment *to, const struct tamis__segment *const *from,
                         size_t count, struct tamis__words words);
void tamis__cells_tally(const struct tamis__segment *a, const struct tamis__segment *b,
                        struct tamis__words words, uint64_t ones[3]);

/* One for each of the list, in the file of its name. */
#define TAMIS__KIND_EXTERN_(number, name, properties)                                              \
    extern const struct tamis__kind tamis__kind_##name;
TAMIS__KINDS(TAMIS__KIND_EXTERN_)
#undef TAMIS__KIND_EXTERN_

/* Returns NULL if no kind has that number. */
const struct tamis__kind *tamis__kind_by_id(uint32_t id);
