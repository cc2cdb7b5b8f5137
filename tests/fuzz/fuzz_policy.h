/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_policy.h: reckoning with a policy that was accepted, as growth and rotation do. */
#ifndef TAMIS_TESTS_FUZZ_POLICY_H
#define TAMIS_TESTS_FUZZ_POLICY_H

#include "fuzz.h"
#include "plan/policy.h"

/* What is divided by 0, or overflows, UBSan sees. */
static inline void fuzz_policy(const struct tamis__policy *policy, uint64_t slice,
                               int64_t slice_start, uint32_t step)
{
    const struct tamis__segment_header newest = {.capacity = 1, .step = step};
    const int64_t slice_ns = tamis__policy_slice_ns(policy);
    const double rate = tamis__policy_rate(policy);
    const double left = tamis__policy_left(policy, step);
    FUZZ_CHECK(rate >= 0 && rate <= 1); /* 0: of a rate so small that a share of it underflows */
    FUZZ_CHECK(left >= 0 && left <= rate);
    const struct tamis__policy_list full = {.count = TAMIS__SEGMENTS_MAX, .slices = 1};
    FUZZ_CHECK(!tamis__policy_grows(policy, step, &full));
    FUZZ_CHECK(tamis__policy_limit(policy, &newest) >= 1);
    FUZZ_CHECK(slice_ns >= 0 && (slice_ns > 0) == (policy->window_ns > 0));
    FUZZ_CHECK(slice + policy->slices >= slice);
    if (slice_ns == 0) return;
    FUZZ_CHECK(slice_start + slice_ns + policy->window_ns > 0);
    FUZZ_CHECK(tamis__policy_next_slice(policy, slice_start, 0) == 0);
    const int64_t next = tamis__policy_next_slice(policy, slice_start, INT64_MAX);
    FUZZ_CHECK(next > INT64_MAX - slice_ns && (next - slice_start) % slice_ns == 0);
}

#endif
