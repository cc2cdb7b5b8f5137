/* SPDX-License-Identifier: BSD-2-Clause */
/* plan.c: see plan.h.  What cannot be made is refused here, before any file is made. */
#include "plan/plan.h"

#include "kind/kind.h"
#include "os/io.h"
#include "plan/policy.h"

/* Checks explicit geometry: m is given, k too unless the hash set knows it, and n or p or
 * neither. */
static int check_geometry(const struct tamis_filter_spec *spec, const struct tamis_sizing *sizing)
{
    if (spec->m_bits == 0 || sizing->k == 0)
        return tamis__fail(TAMIS_EINVAL,
                           "%s alone does not make a filter; give m, of 1 bit or more, and k, of 1 "
                           "to %d hashes",
                           spec->m_bits ? "m" : "k", TAMIS_K_MAX);
    if (sizing->k > TAMIS_K_MAX)
        return tamis__fail(TAMIS_EINVAL, "k of %u hashes%s is out of range; give 1 to %d",
                           sizing->k, spec->k ? "" : ", which follows from m and the capacity,",
                           TAMIS_K_MAX);
    if (!tamis_kind_has(sizing->kind, TAMIS_KIND_IS_PLAIN))
        return tamis__fail(TAMIS_EINVAL,
                           "an explicit geometry is for kind bloom; give a capacity and a rate for "
                           "kind %s",
                           tamis_kind_name(sizing->kind));
    if (spec->capacity == 0 || spec->fp_rate == 0) return 0;
    /* The rate that a filter of this size has as its own: one like it asks for that. */
    struct tamis_sizing made = {
        .kind = sizing->kind, .capacity = spec->capacity, .m_bits = spec->m_bits, .k = sizing->k};
    const int rc = tamis__size(&made);
    if (rc < 0) return rc;
    if (made.fp_rate > spec->fp_rate)
        return tamis__fail(
            TAMIS_EINVAL,
            "m = %llu and k = %u hold %llu key%s at a rate of %.3g, not %g; give more "
            "bits or a greater rate",
            (unsigned long long)spec->m_bits, sizing->k, (unsigned long long)spec->capacity,
            tamis__plural(spec->capacity), made.fp_rate, spec->fp_rate);
    return 0;
}

int tamis__plan_secret(const struct tamis__hash_set *set, const uint8_t given[TAMIS_SECRET_BYTES],
                       uint8_t parameters[TAMIS__HASH_PARAMETER_BYTES])
{
    const bool any = !tamis__is_zero(given, TAMIS_SECRET_BYTES);
    if (any && !set->keyed)
        return tamis__fail(TAMIS_EINVAL, "hash set %s has no secret; leave it out", set->name);
    if (any) memcpy(parameters, given, TAMIS_SECRET_BYTES);
    while (set->keyed && tamis__is_zero(parameters, TAMIS_SECRET_BYTES))
        tamis__random_bytes(parameters, TAMIS_SECRET_BYTES);
    return 0;
}

int tamis__plan_key_rule(const char *given, struct tamis__policy *policy)
{
    struct tamis__key_rule rule;
    const int rc = tamis__key_rule_parse(given, &rule);
    if (rc == 0) memcpy(policy->key_rule, rule.text, sizeof policy->key_rule);
    return rc;
}

int tamis__take_spec(const struct tamis_filter_spec *theirs, struct tamis_filter_spec *ours)
{
    const int rc = tamis__take_struct(theirs, ours, sizeof *ours, "struct tamis_filter_spec");
    if (rc < 0 || ours->reserved == 0) return rc;
    return tamis__fail(TAMIS_EINVAL,
                       "the field 'reserved' of a struct tamis_filter_spec is %u; leave it 0",
                       ours->reserved);
}

/* Plans the hash set and what depends on it: kind, seed, bit order, and k if the set fixes it. */
static int plan_hash_set(const struct tamis_filter_spec *spec, struct tamis__plan *plan)
{
    struct tamis_sizing *sizing = &plan->sizing;
    const uint32_t known = TAMIS_FILTER_DURABLE | TAMIS_FILTER_OWNED | TAMIS_FILTER_FROM_FIRST;
    if ((spec->flags & ~known) != 0)
        return tamis__fail(TAMIS_EINVAL, "filter flags %#x: use those of TAMIS_FILTER_*",
                           spec->flags);
    int rc = tamis__hash_set_parse(spec->hash_set ? spec->hash_set : "xxh3", &plan->hash_set,
                                   plan->parameters);
    if (rc == 0) rc = tamis__plan_secret(plan->hash_set, spec->secret, plan->parameters);
    if (rc < 0) return rc;
    plan->any_secret = tamis__is_zero(spec->secret, sizeof spec->secret);
    plan->explicit_geometry = spec->m_bits != 0 || spec->k != 0;
    struct tamis__hashing hashing = {.set = plan->hash_set,
                                     .parameters = plan->parameters,
                                     .seed = spec->seed,
                                     .m_bits = spec->m_bits,
                                     .k = spec->k};
    rc = tamis__hashing_check(&hashing);
    if (rc < 0) return rc;
    sizing->k = hashing.k;
    sizing->kind = spec->kind;
    if (spec->kind == TAMIS_KIND_DEFAULT)
        sizing->kind = spec->m_bits != 0 || spec->k != 0 || !plan->hash_set->any_kind
                           ? TAMIS_KIND_BLOOM
                           : TAMIS_KIND_BLOCKED;
    if (tamis__kind_by_id(sizing->kind) == NULL)
        return tamis__fail(TAMIS_EINVAL, "there is no kind of number %u", sizing->kind);
    if (tamis_kind_has(sizing->kind, TAMIS_KIND_IS_STATIC))
        return tamis__fail(TAMIS_EUNSUPPORTED,
                           "a filter of kind %s is static, and cannot be created empty; `tamis "
                           "build` makes it with all its keys",
                           tamis_kind_name(sizing->kind));
    if (!plan->hash_set->any_kind && !tamis_kind_has(sizing->kind, TAMIS_KIND_IS_PLAIN))
        return tamis__fail(TAMIS_EUNSUPPORTED, "hash set %s goes with kind bloom only",
                           plan->hash_set->name);
    plan->policy.durable = (spec->flags & TAMIS_FILTER_DURABLE) != 0;
    plan->policy.window_from = (spec->flags & TAMIS_FILTER_FROM_FIRST) != 0;
    plan->owned = (spec->flags & TAMIS_FILTER_OWNED) != 0;
    plan->policy.pages = spec->pages;
    rc = tamis__check_pages(spec->pages);
    if (rc == 0) rc = tamis__plan_key_rule(spec->key_rule, &plan->policy);
    if (rc < 0) return rc;
    plan->seed = spec->seed;
    plan->bit_order = plan->hash_set->bit_order;
    sizing->counter_bits = spec->counter_bits;
    if (tamis_kind_has(sizing->kind, TAMIS_KIND_COUNTS) && spec->counter_bits == 0)
        sizing->counter_bits = TAMIS__COUNTER_BITS_DEFAULT;
    return tamis__check_counter_bits(sizing->kind, sizing->counter_bits);
}

/* Takes n, p, m and k from the spec, or from the hash set's own rule. */
static int plan_size(const struct tamis_filter_spec *spec, struct tamis__plan *plan)
{
    struct tamis_sizing *sizing = &plan->sizing;
    const bool explicit_geometry =
        spec->m_bits != 0 || (spec->k != 0 && plan->hash_set->fixed_k == NULL);
    if (spec->capacity == 0 && spec->window_items == 0 && !explicit_geometry)
        return tamis__fail(TAMIS_EINVAL,
                           "capacity 0 is out of range; give the number of distinct keys to hold, "
                           "from 1 to %llu",
                           (unsigned long long)TAMIS__CAPACITY_MAX);
    sizing->capacity = spec->capacity ? spec->capacity : spec->window_items;
    sizing->m_bits = spec->m_bits;
    sizing->fp_rate = spec->fp_rate;
    if (spec->fp_rate != 0 && !tamis__rate_is_valid(spec->fp_rate))
        return tamis__fail_rate(spec->fp_rate);
    if (spec->capacity > TAMIS__CAPACITY_MAX) return tamis__size(sizing); /* it says it better */
    if (!explicit_geometry && spec->fp_rate == 0) sizing->fp_rate = TAMIS_FP_RATE_DEFAULT;
    if (plan->hash_set->shape != NULL && sizing->capacity != 0 &&
        (sizing->m_bits == 0 || sizing->k == 0))
        plan->hash_set->shape(sizing);
    return explicit_geometry ? check_geometry(spec, sizing) : 0;
}

/* Plans how the filter goes on when it is full: as the spec says, or as suits the filter. */
static int plan_growth(const struct tamis_filter_spec *spec, struct tamis__plan *plan)
{
    struct tamis__policy *policy = &plan->policy;
    const bool counting = tamis_kind_has(plan->sizing.kind, TAMIS_KIND_COUNTS);
    const bool fixed = plan->explicit_geometry || !plan->hash_set->any_kind || counting;
    if (counting && policy->durable)
        return tamis__fail(
            TAMIS_EUNSUPPORTED,
            "a filter of kind counting cannot be durable, as keys that are taken off again are in "
            "no log; leave that out, or use kind blocked or bloom");
    policy->on_full = spec->on_full;
    if (spec->on_full > TAMIS_ON_FULL_WARN)
        return tamis__fail(TAMIS_EINVAL, "there is no policy %u for a full filter", spec->on_full);
    if (counting && (spec->on_full == TAMIS_ON_FULL_GROW || policy->slices != 0))
        return tamis__fail(
            TAMIS_EUNSUPPORTED,
            "a filter of kind counting has no window and does not grow, as a key must be taken off "
            "where it was counted; leave that out, or use another kind");
    if (counting && spec->on_full == TAMIS_ON_FULL_REFUSE)
        return tamis__fail(
            TAMIS_EUNSUPPORTED,
            "a filter of kind counting takes keys also when it is full, because a key that it "
            "has must still be counted; let it warn");
    if (policy->on_full == TAMIS_ON_FULL_DEFAULT) {
        policy->on_full = fixed ? TAMIS_ON_FULL_WARN : TAMIS_ON_FULL_GROW;
    }
    if (policy->on_full == TAMIS_ON_FULL_GROW && spec->capacity == 0 && spec->window_items == 0)
        return tamis__fail(
            TAMIS_EINVAL,
            "a filter that grows needs a capacity to start from; give -n, or let it warn or "
            "refuse when it is full");
    return 0;
}

static int plan_window(const struct tamis_filter_spec *spec, struct tamis__plan *plan)
{
    struct tamis__policy *policy = &plan->policy;
    if (spec->window_ns == 0 && spec->window_items == 0) {
        if (policy->window_from != 0)
            return tamis__fail(TAMIS_EINVAL, "only a window counts from the first add of a key; "
                                             "give the window too, or leave that out");
        if (spec->slices == 0) return 0;
        return tamis__fail(TAMIS_EINVAL, "slices are parts of a window; give the window too");
    }
    if (spec->window_ns != 0 && spec->window_items != 0)
        return tamis__fail(TAMIS_EINVAL, "a window is of time or of keys, not of both");
    policy->slices = spec->slices ? spec->slices : 10;
    policy->window_ns = spec->window_ns;
    policy->window_items = spec->window_items;
    if (policy->slices > TAMIS_SLICES_MAX)
        return tamis__fail(TAMIS_EINVAL, "%u slices are too many; give 1 to %d", policy->slices,
                           TAMIS_SLICES_MAX);
    if (spec->window_ns < 0 || spec->window_ns > TAMIS_WINDOW_NS_MAX ||
        (spec->window_ns > 0 && spec->window_ns / policy->slices < TAMIS_SLICE_NS_MIN))
        return tamis__fail(
            TAMIS_EINVAL,
            "a window of %g s in %u slices is out of range; a slice is of at least 0.1 s, a window "
            "of at most 100 years",
            (double)spec->window_ns / 1e9, policy->slices);
    if (spec->window_items > TAMIS__CAPACITY_MAX)
        return tamis__fail(TAMIS_EINVAL, "a window of %llu keys is too long; the most is %llu",
                           (unsigned long long)spec->window_items,
                           (unsigned long long)TAMIS__CAPACITY_MAX);
    if (plan->explicit_geometry || !plan->hash_set->any_kind)
        return tamis__fail(
            TAMIS_EUNSUPPORTED,
            "a window goes with a capacity and hash set xxh3 or sip only; leave the window or "
            "the geometry out");
    return 0;
}

/* Derives the size of the first segment from that of the whole filter. */
static int plan_policy(const struct tamis_filter_spec *spec, struct tamis__plan *plan)
{
    struct tamis_sizing *sizing = &plan->sizing;
    const bool fixed = plan->explicit_geometry || !plan->hash_set->any_kind;
    int rc = fixed ? tamis__size(sizing) : 0; /* a fixed size needs no policy */
    plan->policy.capacity = sizing->capacity;
    plan->policy.fp_rate = sizing->fp_rate;
    if (rc == 0) rc = plan_window(spec, plan);
    if (rc == 0) rc = plan_growth(spec, plan);
    if (rc < 0 || fixed) return rc;
    return tamis__policy_size_first(&plan->policy, sizing);
}

int tamis__plan_filter(const struct tamis_filter_spec *spec, struct tamis__plan *plan)
{
    struct tamis_sizing *sizing = &plan->sizing;
    *plan = (struct tamis__plan){.bit_order = TAMIS__BITS_LSB_FIRST};
    int rc = plan_hash_set(spec, plan);
    if (rc == 0) rc = plan_size(spec, plan);
    if (rc == 0) rc = plan_policy(spec, plan);
    /* A huge m with few keys underflows to a rate of 0, so take the least rate that a file can
     * hold. */
    if (rc == 0 && sizing->fp_rate == 0) sizing->fp_rate = TAMIS_FP_RATE_MIN;
    if (plan->policy.fp_rate == 0) plan->policy.fp_rate = sizing->fp_rate;
    if (plan->policy.capacity == 0) plan->policy.capacity = sizing->capacity;
    return rc;
}

void tamis__plan_describe(const struct tamis__plan *plan, struct tamis__listed_segment *segment)
{
    *segment =
        (struct tamis__listed_segment){.kind = plan->sizing.kind,
                                       .hash_set = plan->hash_set->id,
                                       .seed = plan->seed,
                                       .m_bits = plan->sizing.m_bits,
                                       .k = plan->sizing.k,
                                       .words = plan->sizing.words,
                                       .capacity = plan->sizing.capacity,
                                       .fp_rate = plan->sizing.fp_rate,
                                       .bit_order = plan->bit_order,
                                       .counter_bits = plan->sizing.counter_bits,
                                       .slice_start = plan->policy.slices ? tamis__clock_ns() : 0};
    memcpy(segment->parameters, plan->parameters, sizeof segment->parameters);
}
