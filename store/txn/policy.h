/* SPDX-License-Identifier: BSD-2-Clause */
/* policy.h: the arithmetic of growth and windows: what the next segment is to be, and when. */
#pragma once

#include "catalog/record.h"

/* No segment after the first is made for fewer keys: a query of a key that is absent reads each
 * segment, and small segments save next to no memory. */
#define TAMIS__GROWN_MIN 65536u
/* The one after a segment of TAMIS__GROWN_MIN keys or more is made for at least so many. */
#define TAMIS__GROWN_LARGE (1u << 20)

/* The policy when full; a file may have 0 for TAMIS_ON_FULL_WARN (docs/format.md 3.1.4). */
uint32_t tamis__policy_on_full(const struct tamis__policy *policy);
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
/* Sizes the segment that comes after one of `capacity` keys, if `left` is the rate that those
 * before it have left over.  It takes a part of that, so the sum never exceeds the rate. */
int tamis__policy_size_next(const struct tamis__policy *policy, uint64_t capacity, double left,
                            struct tamis_sizing *sizing);
/* What the segments up to that step leave over at least, if the first took half of the rate. */
double tamis__policy_left(const struct tamis__policy *policy, uint32_t step);
/* Can a list of `count` segments grow further, if its newest is of that step? */
bool tamis__policy_grows(const struct tamis__policy *policy, uint32_t step, uint32_t count);
/* The number of items that the newest segment may have: the capacity that it was made for, or
 * UINT64_MAX for any number. */
uint64_t tamis__policy_limit(const struct tamis__policy *policy,
                             const struct tamis__segment_header *newest);
/* The length of a slice in ns; 0 if the window is not limited by time. */
int64_t tamis__policy_slice_ns(const struct tamis__policy *policy);
/* Has the window moved past the slice that began at `slice_start`?  Then its keys are forgotten. */
bool tamis__policy_is_past(const struct tamis__policy *policy, int64_t slice_start, int64_t now);
/* The time at which the next slice begins, if the slice of `start` is found to be over at `now`. */
int64_t tamis__policy_next_slice(const struct tamis__policy *policy, int64_t start, int64_t now);
