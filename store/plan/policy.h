/* SPDX-License-Identifier: BSD-2-Clause */
/* policy.h: the arithmetic of growth and windows: what the next segment is to be, and when. */
#pragma once

#include "catalog/record.h"

/* No segment after the first is made for fewer keys: a query of a key that is absent reads each
 * segment, and small segments save next to no memory. */
#define TAMIS__GROWN_MIN 65536u
/* A segment that comes after one for TAMIS__GROWN_MIN keys or more is made for at least this many.
 */
#define TAMIS__GROWN_LARGE (1u << 20)

/* The policy when full; a file may have 0 for TAMIS_ON_FULL_WARN (docs/format.md 3.1.4). */
uint32_t tamis__policy_on_full(const struct tamis__policy *policy);
/* Is the policy in force the one that a new list asks for?  A durable filter stays durable, whether
 * that is asked for or not. */
bool tamis__policy_stays(const struct tamis__policy *in_force, const struct tamis__policy *asked);
/* Is there such a sort of pages?  Returns 0 or TAMIS_EINVAL. */
int tamis__check_pages(uint32_t pages);
/* The TAMIS_FILTER_* flags that follow from a policy. */
uint32_t tamis__policy_flags(const struct tamis__policy *policy);
/*
 * The rate that all segments of the filter share, or of a slice: with a window, all slices together
 * share the rate asked for, and so does the slice that is going out.
 */
double tamis__policy_rate(const struct tamis__policy *policy);
/*
 * Sizes the first segment of a filter, or of a slice.  Kind and counter_bits are taken from
 * *sizing.  In a filter that grows it has half of the rate, or a tenth if it is for fewer than
 * TAMIS__GROWN_MIN keys (decision 0020).  If adders leave a full segment for another one, it is
 * made a little larger than its capacity: adders that are busy in it at that moment finish there.
 */
int tamis__policy_size_first(const struct tamis__policy *policy, struct tamis_sizing *sizing);
/*
 * What a list of segments says of the next one.  A window that grows may have few places left for
 * further segments: each slice to come needs one, and a list has TAMIS__SEGMENTS_MAX.  The fewer
 * there are, the larger the next segments are made, so that the places suffice (docs/sizing.md,
 * "Windows").
 */
struct tamis__policy_list {
    uint32_t count;      /* segments, without those that the window has left behind */
    uint32_t slices;     /* slices that these belong to */
    uint64_t slice;      /* the newest of them */
    uint64_t last_items; /* its keys */
    uint64_t most_items; /* the most keys of any slice */
};
/* Puts the next newer segment into a list, which is all 0 at first. */
void tamis__policy_list_add(struct tamis__policy_list *list, uint64_t slice, uint64_t items);
/* The list of a record, from segment `first` on. */
struct tamis__policy_list tamis__policy_list_of(const struct tamis__record *record, uint32_t first);
/* Places of the list that growth may take; the slices that are still to come have theirs. */
uint32_t tamis__policy_places(const struct tamis__policy *policy,
                              const struct tamis__policy_list *list);
/* As tamis__policy_size_first(), for a slice that follows those of the list.  In a window of time
 * that grows, it is made for what the last slice got, if that is more than its share. */
int tamis__policy_size_slice(const struct tamis__policy *policy,
                             const struct tamis__policy_list *list, struct tamis_sizing *sizing);
/* Sizes the segment that comes after one of `capacity` keys, if `left` is the rate that those
 * before it have left over.  It takes a part of that (decision 0029), so the sum never exceeds the
 * rate. */
int tamis__policy_size_next(const struct tamis__policy *policy,
                            const struct tamis__policy_list *list, uint64_t capacity, double left,
                            struct tamis_sizing *sizing);
/* What the segments up to that step leave over at least, if the first took half of the rate. */
double tamis__policy_left(const struct tamis__policy *policy, uint32_t step);
/* Can a list grow further, if its newest segment is of that step? */
bool tamis__policy_grows(const struct tamis__policy *policy, uint32_t step,
                         const struct tamis__policy_list *list);
/* The number of items that the newest segment may have: the capacity that it was made for, or
 * UINT64_MAX for any number. */
uint64_t tamis__policy_limit(const struct tamis__policy *policy,
                             const struct tamis__segment_header *newest);
/* The length of a slice in ns; 0 if the window is not limited by time. */
int64_t tamis__policy_slice_ns(const struct tamis__policy *policy);
/* The time at which the keys of a slice that began at `slice_start` are forgotten; INT64_MAX if the
 * window is not limited by time.  A slice is forgotten no later than those after it: if the clock
 * was ahead when it began, their time counts. */
int64_t tamis__policy_past_at(const struct tamis__policy *policy, int64_t slice_start);
/* Has the window left a slice behind, by the number of slices that began after it? */
bool tamis__policy_is_behind(const struct tamis__policy *policy, uint64_t slice, uint64_t newest);
/* The index of the first segment of a record whose keys are still in the window: the number of
 * segments if there is none.  This is what tamis__first_alive() says of a view. */
uint32_t tamis__policy_first(const struct tamis__record *record, int64_t now);
/*
 * Is a slice that began at `start` over at `now`?  Its time may be over.  Or it began in the
 * future, as the clock was ahead then and was set right since: it must not take all keys until that
 * time.
 *
 * That is concluded only if the clock is behind by more than a slice, so that no slice is left
 * behind too early by their number.  And only by up to 26 hours, more than time zones differ: a
 * machine that has not got the time yet is behind by more, and must not forget its keys.
 */
bool tamis__policy_is_slice_over(int64_t slice_ns, int64_t start, int64_t now);
/* Did the slice begin so far in the future that the clock must have been ahead? */
bool tamis__policy_is_ahead(int64_t slice_ns, int64_t start, int64_t now);
/* The time at which the next slice begins, if the slice of `start` is found to be over at `now`. */
int64_t tamis__policy_next_slice(const struct tamis__policy *policy, int64_t start, int64_t now);
