/* SPDX-License-Identifier: BSD-2-Clause */
/* policy.c: see policy.h; the measurement behind the rates is in
 * docs/decisions/0020-growth-jumps.md and 0029-shares-of-growth.md. */
#include "plan/policy.h"

#include <math.h>

#include "catalog/parameters.h"
#include "sizing/sizing.h"

#define FIRST_SHARE 0.5
#define SMALL_FIRST_SHARE 0.1 /* of fewer than TAMIS__GROWN_MIN keys */
#define SMALL_NEXT_SHARE 0.12 /* of fewer than TAMIS__GROWN_LARGE keys */
#define LARGE_SHARE 0.3       /* of TAMIS__GROWN_LARGE keys: one of twice as many comes next */
#define LARGER_SHARE 0.4

TAMIS_API const char *tamis_on_full_name(uint32_t on_full)
{
    static const char *const names[] = {[TAMIS_ON_FULL_GROW] = "grow",
                                        [TAMIS_ON_FULL_REFUSE] = "refuse",
                                        [TAMIS_ON_FULL_WARN] = "warn"};
    return on_full < sizeof names / sizeof names[0] ? names[on_full] : NULL;
}

TAMIS_API const char *tamis_pages_name(uint32_t pages)
{
    static const char *const names[] = {
        [TAMIS_PAGES_AUTO] = "auto", [TAMIS_PAGES_SMALL] = "small", [TAMIS_PAGES_HUGE] = "huge"};
    return pages < sizeof names / sizeof names[0] ? names[pages] : NULL;
}

bool tamis__policy_stays(const struct tamis__policy *in_force, const struct tamis__policy *asked)
{
    struct tamis__policy a = *in_force, b = *asked;
    a.on_full = tamis__policy_on_full(in_force);
    b.on_full = tamis__policy_on_full(asked);
    b.durable |= a.durable;
    return tamis__first_difference(tamis__policy_parameters, TAMIS__IN_HEADER, &a, &b) == NULL;
}

int tamis__check_pages(uint32_t pages)
{
    if (tamis_pages_name(pages) != NULL) return 0;
    return tamis__fail(TAMIS_EINVAL, "there is no sort of pages %u; use enum tamis_pages", pages);
}

uint32_t tamis__policy_on_full(const struct tamis__policy *policy)
{
    return policy->on_full ? policy->on_full : (uint32_t)TAMIS_ON_FULL_WARN;
}

uint32_t tamis__policy_flags(const struct tamis__policy *policy)
{
    return (policy->durable ? TAMIS_FILTER_DURABLE : 0) |
           (policy->window_from ? TAMIS_FILTER_FROM_FIRST : 0);
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

/* `times` a number of keys, but at most as many as a segment can be made for. */
static uint64_t times(uint64_t keys, uint64_t factor)
{
    return keys > TAMIS__CAPACITY_MAX / factor ? TAMIS__CAPACITY_MAX : keys * factor;
}

void tamis__policy_list_add(struct tamis__policy_list *list, uint64_t slice, uint64_t items)
{
    if (list->count == 0 || slice != list->slice) {
        list->slices++;
        list->last_items = 0;
    }
    list->count++;
    list->slice = slice;
    list->last_items += items;
    if (list->last_items > list->most_items) list->most_items = list->last_items;
}

struct tamis__policy_list tamis__policy_list_of(const struct tamis__record *record, uint32_t first)
{
    struct tamis__policy_list list = {0};
    for (uint32_t i = first; i < record->segment_count; i++)
        tamis__policy_list_add(&list, record->segments[i].slice, record->segments[i].items);
    return list;
}

uint32_t tamis__policy_places(const struct tamis__policy *policy,
                              const struct tamis__policy_list *list)
{
    const uint32_t slices = policy->slices > 0 ? policy->slices + 1 : 0; /* one is going out */
    const uint32_t to_come = slices > list->slices ? slices - list->slices : 0;
    const uint32_t taken = list->count + to_come;
    return taken < TAMIS__SEGMENTS_MAX ? TAMIS__SEGMENTS_MAX - taken : 0;
}

/* How short of places is a list with a window?  0: more than a half of those that the slices leave
 * are free, 1: more than a quarter, 2: fewer. */
static unsigned shortage(const struct tamis__policy *policy, const struct tamis__policy_list *list)
{
    const uint32_t left = tamis__policy_places(policy, list);
    const uint32_t all = TAMIS__SEGMENTS_MAX - (policy->slices + 1);
    if (policy->slices == 0 || left > all / 2) return 0;
    return left > all / 4 ? 1 : 2;
}

static uint64_t next_capacity(const struct tamis__policy *policy,
                              const struct tamis__policy_list *list, uint64_t capacity)
{
    static const uint64_t FACTORS[] = {2, 4, 16};
    const uint64_t least = capacity < TAMIS__GROWN_MIN ? TAMIS__GROWN_MIN : TAMIS__GROWN_LARGE;
    const uint64_t next = times(capacity, FACTORS[shortage(policy, list)]);
    return next < least ? least : next;
}

static bool may_grow(const struct tamis__policy *policy)
{
    return policy->on_full == TAMIS_ON_FULL_GROW && policy->window_items == 0;
}

/*
 * The keys for which the slice after those of the list is made.  A slice that got more than its
 * share is taken for a sign that the next one will, so that this need not grow too.  A small one
 * has room for four times as much, which costs next to nothing.
 *
 * If places are short, the fullest of all slices counts, and further slices must exceed twice, and
 * then eight times, what any got before they grow.  So the places suffice for every course of keys
 * from 65,536 a slice to 2^50.
 */
static uint64_t slice_capacity(const struct tamis__policy *policy,
                               const struct tamis__policy_list *list)
{
    const uint64_t asked = first_capacity(policy);
    const unsigned shorts = shortage(policy, list);
    const uint64_t got = shorts > 0 ? list->most_items : list->last_items;
    if (!may_grow(policy) || got <= asked) return asked;
    if (shorts > 0) return times(got, shorts > 1 ? 8 : 2);
    const uint64_t small = times(got, 4) < TAMIS__GROWN_MIN ? times(got, 4) : TAMIS__GROWN_MIN;
    const uint64_t more = times(got / 4 + 1, 5);
    return small > more ? small : more;
}

static double first_share(const struct tamis__policy *policy, uint64_t capacity)
{
    if (!may_grow(policy)) return 1;
    return capacity < TAMIS__GROWN_MIN ? SMALL_FIRST_SHARE : FIRST_SHARE;
}

/* The part that a further segment takes of the rate that those before it have left. */
static double next_share(uint64_t capacity)
{
    if (capacity < TAMIS__GROWN_LARGE) return SMALL_NEXT_SHARE;
    return capacity == TAMIS__GROWN_LARGE ? LARGE_SHARE : LARGER_SHARE;
}

double tamis__policy_left(const struct tamis__policy *policy, uint32_t step)
{
    return tamis__policy_rate(policy) * (1 - FIRST_SHARE) * pow(1 - LARGER_SHARE, step);
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

static int size_first(const struct tamis__policy *policy, uint64_t capacity,
                      struct tamis_sizing *sizing)
{
    return size(policy, capacity, first_share(policy, capacity) * tamis__policy_rate(policy),
                sizing);
}

int tamis__policy_size_first(const struct tamis__policy *policy, struct tamis_sizing *sizing)
{
    return size_first(policy, first_capacity(policy), sizing);
}

int tamis__policy_size_slice(const struct tamis__policy *policy,
                             const struct tamis__policy_list *list, struct tamis_sizing *sizing)
{
    return size_first(policy, slice_capacity(policy, list), sizing);
}

int tamis__policy_size_next(const struct tamis__policy *policy,
                            const struct tamis__policy_list *list, uint64_t capacity, double left,
                            struct tamis_sizing *sizing)
{
    const uint64_t next = next_capacity(policy, list, capacity);
    return size(policy, next, next_share(next) * left, sizing);
}

bool tamis__policy_grows(const struct tamis__policy *policy, uint32_t step,
                         const struct tamis__policy_list *list)
{
    return may_grow(policy) && tamis__policy_places(policy, list) > 0 && step < TAMIS__STEP_MAX &&
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

int64_t tamis__policy_past_at(const struct tamis__policy *policy, int64_t slice_start)
{
    const int64_t length = tamis__policy_slice_ns(policy);
    return length > 0 ? slice_start + length + policy->window_ns : INT64_MAX;
}

bool tamis__policy_is_behind(const struct tamis__policy *policy, uint64_t slice, uint64_t newest)
{
    return policy->slices > 0 && newest > policy->slices && slice < newest - policy->slices;
}

uint32_t tamis__policy_first(const struct tamis__record *record, int64_t now)
{
    const struct tamis__policy *policy = &record->policy;
    const uint64_t newest = tamis__record_newest(record)->slice;
    uint32_t first = record->segment_count;
    while (first > 0 &&
           !tamis__policy_is_behind(policy, record->segments[first - 1].slice, newest) &&
           tamis__policy_past_at(policy, record->segments[first - 1].slice_start) > now)
        first--;
    return first;
}

#define AHEAD_MAX_NS ((int64_t)26 * 3600 * 1000000000)

bool tamis__policy_is_ahead(int64_t slice_ns, int64_t start, int64_t now)
{
    return slice_ns > 0 && start - now > slice_ns;
}

bool tamis__policy_is_slice_over(int64_t slice_ns, int64_t start, int64_t now)
{
    if (slice_ns == 0) return false;
    return now - start >= slice_ns ||
           (tamis__policy_is_ahead(slice_ns, start, now) && start - now <= AHEAD_MAX_NS);
}

/* Slices begin on the grid of those before them, so all are equally long even if a rotation is
 * late. */
int64_t tamis__policy_next_slice(const struct tamis__policy *policy, int64_t start, int64_t now)
{
    const int64_t length = tamis__policy_slice_ns(policy);
    if (length == 0 || now - start < length) return now;
    return start + (now - start) / length * length;
}
