/* SPDX-License-Identifier: BSD-2-Clause */
/* policy.c: see policy.h; the measurement behind the rates is in
 * docs/decisions/0020-growth-jumps.md. */
#include "txn/policy.h"

#include <math.h>

#include "sizing/sizing.h"

#define FIRST_SHARE 0.5
#define SMALL_FIRST_SHARE 0.1 /* of fewer than TAMIS__GROWN_MIN keys */
#define SMALL_NEXT_SHARE 0.12 /* of fewer than TAMIS__GROWN_LARGE keys */
#define NEXT_SHARE 0.3

TAMIS_API const char *tamis_on_full_name(uint32_t on_full)
{
    static const char *const names[] = {[TAMIS_ON_FULL_GROW] = "grow",
                                        [TAMIS_ON_FULL_REFUSE] = "refuse",
                                        [TAMIS_ON_FULL_WARN] = "warn"};
    return on_full < sizeof names / sizeof names[0] ? names[on_full] : NULL;
}

uint32_t tamis__policy_on_full(const struct tamis__policy *policy)
{
    return policy->on_full ? policy->on_full : (uint32_t)TAMIS_ON_FULL_WARN;
}

static bool has_window(const struct tamis__policy *policy)
{
    return policy->window_ns > 0 || policy->window_items > 0;
}

double tamis__policy_rate(const struct tamis__policy *policy)
{
    return has_window(policy) ? policy->fp_rate / (policy->slices + 1) : policy->fp_rate;
}

static uint64_t first_capacity(const struct tamis__policy *policy)
{
    const uint64_t capacity = policy->window_items > 0 ? policy->window_items : policy->capacity;
    return has_window(policy) ? (capacity + policy->slices - 1) / policy->slices : capacity;
}

static uint64_t next_capacity(uint64_t capacity)
{
    if (capacity > TAMIS__CAPACITY_MAX / 2) return TAMIS__CAPACITY_MAX;
    const uint64_t least = capacity < TAMIS__GROWN_MIN ? TAMIS__GROWN_MIN : TAMIS__GROWN_LARGE;
    return 2 * capacity < least ? least : 2 * capacity;
}

static bool may_grow(const struct tamis__policy *policy)
{
    return policy->on_full == TAMIS_ON_FULL_GROW && policy->window_items == 0;
}

static double first_share(const struct tamis__policy *policy)
{
    if (!may_grow(policy)) return 1;
    return first_capacity(policy) < TAMIS__GROWN_MIN ? SMALL_FIRST_SHARE : FIRST_SHARE;
}

double tamis__policy_left(const struct tamis__policy *policy, uint32_t step)
{
    return tamis__policy_rate(policy) * (1 - FIRST_SHARE) * pow(1 - NEXT_SHARE, step);
}

/* When a segment is found full, adders are still busy with some keys (with 4 processes, some tens
 * were seen).  The count is read only every so often, so it is behind by some keys too. */
static uint64_t with_slack(uint64_t capacity)
{
    const uint64_t slack = 64 + capacity / 1024;
    return capacity > TAMIS__CAPACITY_MAX - slack ? TAMIS__CAPACITY_MAX : capacity + slack;
}

static int size(const struct tamis__policy *policy, uint64_t capacity, double rate,
                struct tamis_sizing *sizing)
{
    const bool left_when_full = policy->on_full == TAMIS_ON_FULL_GROW || policy->window_items > 0;
    *sizing = (struct tamis_sizing){.kind = sizing->kind,
                                    .capacity = left_when_full ? with_slack(capacity) : capacity,
                                    .fp_rate = rate,
                                    .counter_bits = sizing->counter_bits};
    const int rc = tamis__size(sizing);
    sizing->capacity = capacity;
    sizing->fp_rate = rate;
    return rc;
}

int tamis__policy_size_first(const struct tamis__policy *policy, struct tamis_sizing *sizing)
{
    return size(policy, first_capacity(policy), first_share(policy) * tamis__policy_rate(policy),
                sizing);
}

int tamis__policy_size_next(const struct tamis__policy *policy, uint64_t capacity, double left,
                            struct tamis_sizing *sizing)
{
    const uint64_t next = next_capacity(capacity);
    const double share = next < TAMIS__GROWN_LARGE ? SMALL_NEXT_SHARE : NEXT_SHARE;
    return size(policy, next, share * left, sizing);
}

bool tamis__policy_grows(const struct tamis__policy *policy, uint32_t step, uint32_t count)
{
    return may_grow(policy) && count < TAMIS__SEGMENTS_MAX && step < TAMIS__STEP_MAX &&
           SMALL_NEXT_SHARE * tamis__policy_left(policy, step) >= TAMIS__SEGMENT_RATE_MIN;
}

uint64_t tamis__policy_limit(const struct tamis__policy *policy,
                             const struct tamis__segment_header *newest)
{
    const bool limited = policy->window_items > 0 || policy->on_full == TAMIS_ON_FULL_REFUSE ||
                         policy->on_full == TAMIS_ON_FULL_GROW;
    return limited ? newest->capacity : UINT64_MAX;
}

int64_t tamis__policy_slice_ns(const struct tamis__policy *policy)
{
    return policy->window_ns > 0 ? policy->window_ns / policy->slices : 0;
}

bool tamis__policy_is_past(const struct tamis__policy *policy, int64_t slice_start, int64_t now)
{
    const int64_t length = tamis__policy_slice_ns(policy);
    return length > 0 && slice_start + length + policy->window_ns <= now;
}

/* Slices begin on the grid of those before them, so all are equally long even if a rotation is
 * late. */
int64_t tamis__policy_next_slice(const struct tamis__policy *policy, int64_t start, int64_t now)
{
    const int64_t length = tamis__policy_slice_ns(policy);
    if (length == 0 || now - start < length) return now;
    return start + (now - start) / length * length;
}
