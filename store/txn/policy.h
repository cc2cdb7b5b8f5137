/* SPDX-License-Identifier: BSD-2-Clause */
/* policy.h: growth and windows as arithmetic: what the next segment shall be, and when. */
#ifndef TAMIS_TXN_POLICY_H
#define TAMIS_TXN_POLICY_H

#include "catalog/record.h"

/* The policy when full; a file may have 0 for TAMIS_ON_FULL_WARN (docs/format.md 3.1.4). */
uint32_t tamis__policy_on_full(const struct tamis__policy *policy);
/*
 * The rate of the segment that a series has after growing `step` times, of the rate asked for:
 * a half for the first, and of the other half a fifth for the second and 4/5 of the one before for
 * each after it.  The sum over all, for ever, is the rate asked for (decision 0011).
 */
double tamis__policy_rate(const struct tamis__policy *policy, uint32_t step);
/* The keys that it is for: twice as many each time, at most TAMIS__CAPACITY_MAX. */
uint64_t tamis__policy_capacity(const struct tamis__policy *policy, uint32_t step);
/*
 * Size the segment of that step, with the kind and the counter_bits that *sizing has.  One that is
 * left when it is full is made a little larger than it says: adders that are at it at that moment
 * finish there.
 */
int tamis__policy_size(const struct tamis__policy *policy, uint32_t step,
                       struct tamis_sizing *sizing);
/* Can a list of so many segments, the newest of that step, grow further? */
bool tamis__policy_grows(const struct tamis__policy *policy, uint32_t step, uint32_t count);
/* Items that the newest segment may have: the capacity that it was made for; UINT64_MAX: any
 * number. */
uint64_t tamis__policy_limit(const struct tamis__policy *policy,
                             const struct tamis__segment_header *newest);
/* The length of a slice in ns; 0 where the window is no time. */
int64_t tamis__policy_slice_ns(const struct tamis__policy *policy);
/* Has a window in time left the slice behind that began at `slice_start`?  Its keys are forgotten
 * then. */
bool tamis__policy_is_past(const struct tamis__policy *policy, int64_t slice_start, int64_t now);
/* When the slice after the one that began at `start` begins, if that is noticed at `now`. */
int64_t tamis__policy_next_slice(const struct tamis__policy *policy, int64_t start, int64_t now);

#endif
