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

struct tamis__kind {
    uint32_t id; /* enum tamis_kind; stands in the files */
    const char *name;

    /* Does the header describe a geometry of this kind?  0, TAMIS_ECORRUPT or TAMIS_EVERSION;
     * *reason is a clause that fits behind the name of the file. */
    int (*check)(const struct tamis__segment_header *header, const char **reason);

    /* 1 if the key was new; at most one of any number of racing adders is told so. */
    int (*add)(const struct tamis__segment *segment, const void *key, size_t key_bytes);
    int (*contains)(const struct tamis__segment *segment, const void *key, size_t key_bytes);

    /* answers[i] as above; returns the number of ones. */
    size_t (*add_batch)(const struct tamis__segment *segment, const struct tamis_key *keys,
                        size_t count, uint8_t *answers);
    size_t (*contains_batch)(const struct tamis__segment *segment, const struct tamis_key *keys,
                             size_t count, uint8_t *answers);

    /* The k bit positions of a key, in the order of the hash set. */
    void (*positions)(const struct tamis__segment_header *header, const void *key, size_t key_bytes,
                      uint64_t *positions);

    /* The bits that are set, and the rate at which a stranger would be let in by them. */
    void (*measure)(const struct tamis__segment *segment, uint64_t *ones, double *fp_rate);
};

/* New items are counted every so many keys of a batch: as many as are in flight in it anyway. */
#define TAMIS__KEYS_A_COUNT 64u

/* Count what is new since `counted`; returns what is counted now. */
static inline size_t tamis__count_new(const struct tamis__segment *segment, size_t ones,
                                      size_t counted)
{
    TAMIS__POINT(TAMIS__POINT_COUNT);
    if (ones > counted) tamis__segment_count(segment, ones - counted);
    return ones;
}

/* For kinds of m bits and nothing else: are the data as long as that? */
static inline int tamis__check_bits(const struct tamis__segment_header *header, const char **reason)
{
    struct tamis__layout layout;
    tamis__layout(header->m_bits, &layout);
    *reason = "has data of a length that its m contradicts";
    return header->data_bytes == layout.data_bytes ? 0 : TAMIS_ECORRUPT;
}

extern const struct tamis__kind tamis__kind_blocked;
extern const struct tamis__kind tamis__kind_bloom;

/* NULL for a number that is no kind. */
const struct tamis__kind *tamis__kind_by_id(uint32_t id);

#endif
