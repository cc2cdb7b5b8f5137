/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tamis_merge.h: filters of the keys of several filters, and how much two filters have in common.
 */
#ifndef TAMIS_MERGE_H
#define TAMIS_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "tamis_filter.h"
#include "tamis_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Filters can be merged and compared if the same bit means the same in each: kind, m, k, counter
 * bits, bit order, hash set and seed (or key of hash set sip) are the same in each of their
 * segments. Two filters of one spec and seed that have not grown can be merged, and so can a filter
 * and another that was made by the spec of tamis_filter_like().  Other filters are refused with
 * TAMIS_EMISMATCH, and the sentence names every field that differs.
 *
 * A segment keeps its size, whatever is merged into it.  So make filters that will be merged with
 * the capacity of all of them together.  A call takes a few megabytes of memory, whatever their
 * size.
 *
 * Counters (kind counting) are added: a key is then there as often as in all of
 * the filters together.
 */

/* Flags of struct tamis_merge. */
enum tamis_merge_flag {
    TAMIS_MERGE_INTERSECT = 0x1000000, /* the keys that are in all sources, not those in any of
                                          them */
};

/* What to merge.  A source that is given twice counts once. */
struct tamis_merge {
    size_t size;                  /* sizeof(struct tamis_merge) */
    tamis_filter *const *sources; /* of any store; read-only handles will do */
    size_t count;                 /* of them, 1 or more */
    uint32_t flags;               /* TAMIS_MERGE_* */
    /* NULL, or called now and then, with no lock held.  It returns 0 to go on, or a TAMIS_E* code
     * to end the call, which then returns it. */
    int (*progress)(void *context, uint64_t done_bytes, uint64_t all_bytes);
    void *context;
};

/*
 * Brings all keys of the sources into a filter that exists and may be in use.  Safe beside any
 * call on any of them, from any thread or process: no key that is added meanwhile is lost.
 * A key that came by a merge is present; no call has answered that it was new.
 *
 * filter   open for writing, and none of the sources.
 * Returns  0: every key whose add to a source had returned before this call is in the filter.
 *          TAMIS_EMISMATCH; TAMIS_EUNSUPPORTED: TAMIS_MERGE_INTERSECT, or a filter with a window;
 *          TAMIS_EINVAL, TAMIS_EREADONLY, TAMIS_EDROPPED, TAMIS_ENOMEM; what progress returned.
 *          After an error, or when killed, the filter has all that it had and perhaps more; merging
 *          again completes it.
 * Counters are added in each call, so merging again adds them again.  Therefore the call first
 *          reads all sources and makes the room.  Until then TAMIS_ENOSPACE, TAMIS_ELIMIT (a count
 *          would pass 2^60) and what progress returns end the call with nothing changed.  From then
 *          on progress cannot end it.  If adders use up the room meanwhile, only a part is added,
 *          and the sentence says so.  If the process is killed, only a part is added.  Remove keys
 *          of the sources from the filter only after the call has returned.
 * Items    are raised to what the bits tell (tamis_filter_fill(), items_estimated), never lowered.
 *          That may fill the filter: it grows, or refuses, at the next add that notices.
 * Built    If the filter is built anew or rolled back meanwhile (tamis_build.h), the keys are in
 *          the generation that was replaced.  Exceptions of the sources are not merged.
 * Durable  as tamis_filter_add(): after tamis_filter_sync().
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_merge(tamis_filter *filter,
                                                  const struct tamis_merge *merge);

/*
 * Makes a filter of the keys that are in any source or, with TAMIS_MERGE_INTERSECT, in all sources.
 * Capacity, rate and what happens when it is full are those
 * of the first source.  An intersection has every common key, and answers yes to a stranger where
 * all sources do.  Its counters are the least of the sources' counters: a key is there as often as
 * in the source that has it least often.
 *
 * name     of the filter to be made, in `store`.
 * filter   NULL, or *filter receives an open handle.
 * Returns  0.  TAMIS_EMISMATCH; TAMIS_EUNSUPPORTED: a filter with a window, an intersection of
 *          filters of several segments; TAMIS_EEXIST, TAMIS_EINVAL, TAMIS_ENOSPACE,
 *          TAMIS_EREADONLY, TAMIS_EDROPPED, TAMIS_ENOMEM, TAMIS_EIO; what progress returned.  On
 *          any error, and when killed, nothing is left behind.
 * Items    are estimated from the bits; the segments have TAMIS_SEGMENT_ITEMS_ESTIMATED.
 * Durable  when it returns 0 the filter and its keys survive a power cut.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_create_merged(tamis_store *store, const char *name,
                                                          const struct tamis_merge *merge,
                                                          tamis_filter **filter);

/*
 * Gets the spec that makes a filter like this one, which can be merged with it and goes on in the
 * same way when full.
 *
 * spec      all of it is filled in.  spec->hash_set points to `hash_set`.  spec->key_rule is NULL,
 *           or points to memory of the handle, which lives until the handle is closed.
 * hash_set  room for the name, which must live as long as the spec is used.
 * Returns   0.  TAMIS_EDROPPED, TAMIS_ENOMEM.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_like(tamis_filter *filter,
                                                 struct tamis_filter_spec *spec,
                                                 char hash_set[TAMIS_HASH_SET_NAME_MAX + 1]);

/* Two filters compared, by the bits that are set (docs/sizing.md).  These are numbers of keys. */
struct tamis_comparison {
    size_t size; /* sizeof(struct tamis_comparison) */
    double items_a, items_b;
    double items_union; /* in a or b                                                         */
    double items_both;  /* in a and b: items_a + items_b - items_union, at least 0           */
    double jaccard;     /* items_both / items_union; 0 where both are empty                  */
    double error;       /* standard error of items_both, at most                             */
};

/*
 * How much have two filters in common?  Reads both completely; safe beside any other call.
 *
 * Returns  0.  TAMIS_EMISMATCH; TAMIS_EUNSUPPORTED: filters of several segments, in which a key may
 *          lie here or there; TAMIS_EDROPPED, TAMIS_ENOMEM.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_compare(tamis_filter *a, tamis_filter *b,
                                                    struct tamis_comparison *comparison);

#ifdef __cplusplus
}
#endif

#endif
