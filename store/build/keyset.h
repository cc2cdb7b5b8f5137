/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keyset.h: the digests of any number of keys, sorted and each once, within a bound of memory.
 *
 *     tamis__keyset_init(&keyset, &place, &crew, memory_bytes);
 *     tamis__keyset_add(&keyset, digests, count);        as often as it takes
 *     tamis__keyset_sort(&keyset);                       once; then keyset.distinct, keyset.sum
 *     tamis__keyset_rank(), _read(), _has()              by any number of threads at once
 *     tamis__keyset_clear(&keyset);
 *
 * Digests that do not fit are sorted and written to a temporary file, as a run.  At the end the
 * runs are merged into one.
 */
#pragma once

#include "build/crew.h"
#include "build/digests.h"
#include "segment/temporary.h"

struct tamis__run {
    uint64_t first; /* its place in the file, in digests */
    uint64_t count;
    uint64_t *marks; /* every 1024th digest, beginning with the first */
};

struct tamis__keyset {
    struct tamis__crew *crew;
    uint64_t *digests; /* the digests that are in no run */
    uint64_t *other;   /* NULL, or room for as many: sorting writes here */
    size_t count, room, other_room;
    size_t most;         /* digests in memory */
    size_t worker_spare; /* further digests that each thread has room for */
    bool tells;          /* its work counts for the crew's progress */
    struct tamis__temporary files[2];
    unsigned file; /* the file with the runs; merging writes to the other one */
    struct tamis__run *runs;
    size_t run_count, run_room;
    uint64_t added;
    uint64_t distinct; /* this and the next field are valid once it is sorted */
    tamis__u128 sum;   /* tamis__digests_sum() of them all */
};

#define TAMIS__KEYSET_BYTES_MIN ((uint64_t)64 << 10)

/* Begins a keyset.  `place` and `crew` must live as long. memory_bytes bounds the memory of the
 * digests, until one thread reads them for itself. */
void tamis__keyset_init(struct tamis__keyset *keyset, const struct tamis__place *place,
                        struct tamis__crew *crew, uint64_t memory_bytes);
/* Adds digests.  0, TAMIS_ENOMEM, TAMIS_ENOSPACE, TAMIS_EIO, or what the crew's progress
 * returned. */
int tamis__keyset_add(struct tamis__keyset *keyset, const uint64_t *digests, size_t count);
/* Sorts all digests, in phase TAMIS_BUILD_SORTING.  Returns as tamis__keyset_add(). */
int tamis__keyset_sort(struct tamis__keyset *keyset);
/* As tamis__keyset_sort(), within another phase, whose progress it does not change. */
int tamis__keyset_sort_silently(struct tamis__keyset *keyset);

/* Counts the digests that are below `digest`. */
int tamis__keyset_rank(const struct tamis__keyset *keyset, uint64_t digest, uint64_t *rank);
/* Is `digest` in the set?  1, 0 or an error. */
int tamis__keyset_has(const struct tamis__keyset *keyset, uint64_t digest);
/* Gives `count` digests from rank `first` on, in order.  If they are in memory, *digests points to
 * them there; otherwise they are read into `buffer`, which has room for `count`. */
int tamis__keyset_read(const struct tamis__keyset *keyset, uint64_t first, size_t count,
                       uint64_t *buffer, const uint64_t **digests);
static inline const struct tamis__temporary *tamis__keyset_file(const struct tamis__keyset *keyset)
{
    return &keyset->files[keyset->file];
}
/* Does reading need a buffer? */
static inline bool tamis__keyset_is_on_disk(const struct tamis__keyset *keyset)
{
    return keyset->run_count > 0;
}

/* May be called for a cleared keyset, and for a struct that is all zero. */
void tamis__keyset_clear(struct tamis__keyset *keyset);
