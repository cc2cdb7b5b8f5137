/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keyset.h: the digests of any number of keys, in order and each once, within a bound of memory.
 *
 *     tamis__keyset_init(&keyset, &place, &crew, memory_bytes);
 *     tamis__keyset_add(&keyset, digests, count);        as often as it takes
 *     tamis__keyset_sort(&keyset);                       once; then keyset.distinct, keyset.sum
 *     tamis__keyset_rank(), _read(), _has()              by any number of threads at once
 *     tamis__keyset_clear(&keyset);
 *
 * What does not fit is sorted and written to a temporary file, a run; the runs are merged into one
 * at the end.
 */
#ifndef TAMIS_BUILD_KEYSET_H
#define TAMIS_BUILD_KEYSET_H

#include "build/crew.h"
#include "build/digests.h"
#include "file/temporary.h"

struct tamis__run {
    uint64_t first; /* its place in the file, in digests */
    uint64_t count;
    uint64_t *marks; /* every 1024th digest, from the first on */
};

struct tamis__keyset {
    struct tamis__crew *crew;
    uint64_t *digests; /* those that are in no run */
    uint64_t *other;   /* NULL, or room for as many: what sorting sorts to */
    size_t count, room, other_room;
    size_t most;         /* digests in memory */
    size_t worker_spare; /* digests that each thread has room for besides */
    bool tells;          /* what is done counts for the crew's progress */
    struct tamis__temporary files[2];
    unsigned file; /* of them: the one with the runs; the other is what they are merged to */
    struct tamis__run *runs;
    size_t run_count, run_room;
    uint64_t added;
    uint64_t distinct; /* from here on: once it is sorted */
    tamis__u128 sum;   /* tamis__digests_sum() of them all */
};

#define TAMIS__KEYSET_BYTES_MIN ((uint64_t)64 << 10)

/* `place` and `crew` must live as long.  The memory is a bound on what the digests take, until one
 * thread reads them for itself. */
void tamis__keyset_init(struct tamis__keyset *keyset, const struct tamis__place *place,
                        struct tamis__crew *crew, uint64_t memory_bytes);
/* 0, TAMIS_ENOMEM, TAMIS_ENOSPACE, TAMIS_EIO, or what the crew's progress returned. */
int tamis__keyset_add(struct tamis__keyset *keyset, const uint64_t *digests, size_t count);
/* As above.  Goes to phase TAMIS_BUILD_SORTING. */
int tamis__keyset_sort(struct tamis__keyset *keyset);
/* The same within another phase, to which it does not count. */
int tamis__keyset_sort_silently(struct tamis__keyset *keyset);

/* How many of them are below `digest`? */
int tamis__keyset_rank(const struct tamis__keyset *keyset, uint64_t digest, uint64_t *rank);
/* Is it one of them?  1, 0 or an error. */
int tamis__keyset_has(const struct tamis__keyset *keyset, uint64_t digest);
/* `count` of them from rank `first` on, in order.  Where they are in memory *digests points to them
 * there; else they are read into `buffer`, which has room for `count`. */
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

/* Harmless on a cleared one, and on a struct that is all zero. */
void tamis__keyset_clear(struct tamis__keyset *keyset);

#endif
