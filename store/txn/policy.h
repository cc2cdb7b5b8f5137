/* SPDX-License-Identifier: BSD-2-Clause */
/* policy.h: the arithmetic of growth and windows: what the next segment is to be, and when. */
#pragma once

#include "catalog/record.h"

/* The policy when full; a file may have 0 for TAMIS_ON_FULL_WARN (docs/format.md 3.1.4). */
uint32_t tamis__policy_on_full(const struct tamis__policy *policy);
/*
 * The rate of the segment that a filter gets after growing `step` times.  The first segment has
 * half of the rate asked for, the second has a fifth of the other half, and each one after it has
 * 4/5 of the one before.  The endless sum of all is the rate asked for (decision 0011).
 */
double tamis__policy_rate(const struct tamis__policy *policy, uint32_t step);
/* The capacity of that segment: twice as many keys each time, at most TAMIS__CAPACITY_MAX. */
uint64_t tamis__policy_capacity(const struct tamis__policy *policy, uint32_t step);
/*
 * Sizes the segment of that step.  Kind and counter_bits are taken from *sizing.  If adders leave a
 * full segment for another one, it is made a little larger than its capacity: adders that are busy
 * in it at that moment finish there.
 */
int tamis__policy_size(const struct tamis__policy *policy, uint32_t step,
                       struct tamis_sizing *sizing);
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
