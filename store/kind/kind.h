/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kind.h: how a kind of filter works, behind one table; nothing else switches on the kind.
 *
 * A kind sees one segment at a time: its header says the geometry, its data are the bits.  The
 * calls below take no lock.  add_batch counts the new items itself, in small groups, so that little
 * is uncounted when the process is killed in a long batch; after add the caller counts.
 */
#ifndef TAMIS_KIND_KIND_H
#define TAMIS_KIND_KIND_H

#include <stddef.h>
#include <stdint.h>

#include "base/point.h"
#include "file/segment.h"
#include "tamis.h"

/* Of the index of a filter's exceptions (store/exceptions/set.h): a file like a segment, but no
 * filter, so tamis__kind_by_id() does not know it. */
#define TAMIS__KIND_EXCEPTIONS 5u

/* Which keys of two filters the merged one has. */
enum tamis__merge_rule { TAMIS__MERGE_UNION, TAMIS__MERGE_INTERSECTION };

/* `count` words of the data, from word `first` on. */
struct tamis__words {
    uint64_t first, count;
};

/* The calls for one key whose digest is known, made for one geometry. */
struct tamis__by_digest {
    int (*add)(const struct tamis__segment *segment, struct tamis__digest digest);
    int (*contains)(const struct tamis__segment *segment, struct tamis__digest digest);
};

struct tamis__kind {
    uint32_t id; /* enum tamis_kind; stands in the files */
    const char *name;

    /* Does the header describe a geometry of this kind?  0, TAMIS_ECORRUPT or TAMIS_EVERSION;
     * *reason is a clause that fits behind the name of the file. */
    int (*check)(const struct tamis__segment_header *header, const char **reason);

    /* 1 if the key was new; at most one of any number of racing adders is told so.  Below 0, and
     * nothing done, only where counters need room and there is none. */
    int (*add)(const struct tamis__segment *segment, const void *key, size_t key_bytes);
    int (*contains)(const struct tamis__segment *segment, const void *key, size_t key_bytes);

    /* answers[i] as above; returns the number of ones.  After an error it is TAMIS_ANSWER_REFUSED
     * for each key that was not added. */
    int64_t (*add_batch)(const struct tamis__segment *segment, const struct tamis_key *keys,
                         size_t count, uint8_t *answers);
    size_t (*contains_batch)(const struct tamis__segment *segment, const struct tamis_key *keys,
                             size_t count, uint8_t *answers);

    /* All NULL where no filter of the kind is durable, or has several segments.  The first two and
     * by_digest are as the four above, of keys with these digests, which the segment's hash set
     * has.  by_digest: NULL for a k that is none. */
    int64_t (*add_digests)(const struct tamis__segment *segment,
                           const struct tamis__digest *digests, size_t count, uint8_t *answers);
    size_t (*contains_digests)(const struct tamis__segment *segment,
                               const struct tamis__digest *digests, size_t count, uint8_t *answers);
    const struct tamis__by_digest *(*by_digest)(const struct tamis__segment_header *header);
    /* As contains_batch; and digests[i] is that of key i then. */
    size_t (*contains_keeping)(const struct tamis__segment *segment, const struct tamis_key *keys,
                               size_t count, struct tamis__digest *digests, uint8_t *answers);

    /* NULL but for kinds that count.  answers[i]: 1 if the key was there and is taken off, once.
     * counts[i]: how often it was added and not removed, or more.  They return the number of
     * answers, or of counts, above 0; remove_batch an error, and then TAMIS_ANSWER_REFUSED for what
     * is not done. Items are counted in both directions by the kind. */
    int64_t (*remove_batch)(const struct tamis__segment *segment, const struct tamis_key *keys,
                            size_t count, uint8_t *answers);
    int64_t (*count_batch)(const struct tamis__segment *segment, const struct tamis_key *keys,
                           size_t count, uint64_t *counts);

    /* NULL, or more than the header and the bits to verify: 0, or 1 with what is wrong and where.
     * */
    int (*verify)(const struct tamis__segment *segment, uint64_t *offset, const char **reason);

    /* NULL, or brings in order what was copied word by word, from front to back, beside writers.
     * Nobody else may know of the segment. */
    void (*settle)(const struct tamis__segment *segment);

    /* NULL, or makes one whole of pages that a power cut has left from different instants, of a
     * file so long; keys that were synced are in before and after.  Beside readers, and no writer.
     * 0 or an error. */
    int (*mend)(const struct tamis__segment *segment, uint64_t file_bytes);

    /* The k bit positions of a key, in the order of the hash set. */
    void (*positions)(const struct tamis__segment_header *header, const void *key, size_t key_bytes,
                      uint64_t *positions);
    /* NULL, or for both where they hang on the data: the k slots of a key, and its hash values as
     * text, cut at text_bytes; returns the length it wants.  `positions` is NULL then. */
    size_t (*explain)(const struct tamis__segment *segment, const void *key, size_t key_bytes,
                      uint64_t *positions, char *text, size_t text_bytes);

    /* The bits that are set (a static kind: fingerprints that are not 0), and the rate at which a
     * stranger would be let in by them. */
    void (*measure)(const struct tamis__segment *segment, uint64_t *ones, double *fp_rate);

    /* Bring these words of `from` into `to`, which has the same geometry.  The union beside any
     * adder of either; the intersection only where nobody else knows of `to`.  0 or an error.
     * NULL, as tally then: filters of this kind cannot be merged. */
    int (*merge)(const struct tamis__segment *to, const struct tamis__segment *from,
                 enum tamis__merge_rule rule, struct tamis__words words);
    /* NULL where a merge can be done again, and neither needs room nor has a limit.  Else to be
     * called before it, for all sources: finds what would fail, and makes the room.  Changes no
     * answer. */
    int (*reserve)(const struct tamis__segment *to, const struct tamis__segment *const *from,
                   size_t count, struct tamis__words words);
    /* Add to ones[0], [1] and [2] how many positions these words have set in a, in b, in either. */
    void (*tally)(const struct tamis__segment *a, const struct tamis__segment *b,
                  struct tamis__words words, uint64_t ones[3]);
};

/* New items are counted every so many keys of a batch: as many as are in flight in it anyway. */
#define TAMIS__KEYS_A_COUNT 64u

/* Count what is new since `counted`; returns what is counted now. */
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

/* For kinds of m bits and nothing else: is it that? */
static inline int tamis__check_bits(const struct tamis__segment_header *header, const char **reason)
{
    *reason = "has counters, which its kind has not";
    return header->counter_bits == 0 ? tamis__check_length(header, reason) : TAMIS_ECORRUPT;
}

/* Can this library use its hash set, and is what the header says of it whole? */
int tamis__check_hash_set(const struct tamis__segment_header *header, const char **reason);

/* merge and tally of kinds whose data are bits (bits.c). */
int tamis__bits_merge(const struct tamis__segment *to, const struct tamis__segment *from,
                      enum tamis__merge_rule rule, struct tamis__words words);
void tamis__bits_tally(const struct tamis__segment *a, const struct tamis__segment *b,
                       struct tamis__words words, uint64_t ones[3]);

/* The same, and reserve, of kinds whose data are counters (cells_merge.c). */
int tamis__cells_merge(const struct tamis__segment *to, const struct tamis__segment *from,
                       enum tamis__merge_rule rule, struct tamis__words words);
int tamis__cells_reserve(const struct tamis__segment *to, const struct tamis__segment *const *from,
                         size_t count, struct tamis__words words);
void tamis__cells_tally(const struct tamis__segment *a, const struct tamis__segment *b,
                        struct tamis__words words, uint64_t ones[3]);

extern const struct tamis__kind tamis__kind_blocked;
extern const struct tamis__kind tamis__kind_bloom;
extern const struct tamis__kind tamis__kind_counting;
extern const struct tamis__kind tamis__kind_fuse;

/* NULL for a number that is no kind. */
const struct tamis__kind *tamis__kind_by_id(uint32_t id);

#endif
