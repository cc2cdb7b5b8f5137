/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * create.c: makes a filter in the store from a spec.
 *
 * What may be refused is refused first (plan/plan.h). txn/draft.c and txn/commit.c make the rest.
 */
#include "filter/create.h"

#include <math.h>

#include "catalog/parameters.h"
#include "handle/open.h"
#include "hash/hash_set.h"
#include "plan/plan.h"
#include "plan/policy.h"
#include "txn/draft.h"
#include "txn/enter.h"
#include "txn/spares.h"
#include "txn/store.h"

int tamis__create_check_room(int dir_fd, uint64_t file_bytes, const char *name)
{
    char quoted[TAMIS__QUOTED_BYTES], what[TAMIS__QUOTED_BYTES + 16];
    (void)snprintf(what, sizeof what, "the filter %s", tamis__quote(quoted, name));
    return tamis__check_room(dir_fd, file_bytes, what);
}

int tamis__create_plan(const char *name, const struct tamis_filter_spec *spec,
                       struct tamis__plan *plan)
{
    struct tamis_filter_spec own;
    int rc = tamis__check_name(name);
    if (rc == 0) rc = tamis__take_spec(spec, &own);
    return rc < 0 ? rc : tamis__plan_filter(&own, plan);
}

TAMIS_API int tamis_filter_check(const char *store_path, const char *name,
                                 const struct tamis_filter_spec *spec)
{
    struct tamis__plan plan;
    int fd = -1, rc = tamis__create_plan(name, spec, &plan);
    if (rc == 0 && !plan.owned) rc = tamis__check_new_name(name);
    if (rc < 0 || store_path == NULL) return rc;
    rc = tamis__open_nearest(store_path, &fd);
    if (rc < 0) return rc;
    rc = tamis__create_check_room(fd, plan.sizing.file_bytes, name);
    tamis__close(fd);
    return rc;
}

/* The segment after the one of `sizing`; 0 if there is none. */
static int plan_next(const struct tamis__policy *policy, uint32_t step, double *left,
                     struct tamis_sizing *sizing)
{
    const struct tamis__policy_list list = {.count = step, .slices = policy->slices > 0};
    const uint64_t capacity = sizing->capacity;
    if (!tamis__policy_grows(policy, step - 1, &list)) return 0;
    *left -= sizing->fp_rate;
    *sizing = (struct tamis_sizing){.kind = sizing->kind, .counter_bits = sizing->counter_bits};
    const int rc = tamis__policy_size_next(policy, &list, capacity, *left, sizing);
    return rc < 0 ? rc : 1;
}

TAMIS_API int tamis_filter_plan(const struct tamis_filter_spec *spec, uint32_t step,
                                struct tamis_sizing *sizing)
{
    struct tamis__plan plan;
    int rc = tamis__check_struct(sizing, "struct tamis_sizing");
    if (rc == 0) rc = tamis__create_plan("a", spec, &plan);
    if (rc < 0) return rc;
    double left = tamis__policy_rate(&plan.policy);
    rc = 1;
    for (uint32_t at = 1; rc > 0 && at <= step; at++)
        rc = plan_next(&plan.policy, at, &left, &plan.sizing);
    if (rc <= 0) return rc;
    plan.sizing.bits_per_key =
        (double)tamis__data_bits(plan.sizing.m_bits, plan.sizing.counter_bits) /
        (double)plan.sizing.capacity; /* it has some room beyond that */
    tamis__give_struct(&plan.sizing, sizeof plan.sizing, sizing);
    return 1;
}

void tamis__create_describe(struct tamis_store *store, const char *name,
                            const struct tamis__plan *plan, struct tamis__draft *draft,
                            struct tamis__entry *entry)
{
    struct tamis__listed_segment segment;
    *entry = (struct tamis__entry){.name = name,
                                   .drafts = draft,
                                   .count = 1,
                                   .capacity = plan->sizing.capacity,
                                   .fp_rate = plan->policy.fp_rate,
                                   .policy = plan->policy,
                                   .owned = plan->owned};
    tamis__plan_describe(plan, &segment);
    tamis__draft_init(store, name, &segment, draft);
}

static int create(struct tamis_store *store, const char *name, const struct tamis__plan *plan,
                  tamis_filter **filter)
{
    struct tamis__draft draft;
    struct tamis__entry entry;
    int rc = tamis__check_absent(store, name);
    if (rc == 0 && !plan->owned) rc = tamis__check_new_name(name);
    if (rc == 0) rc = tamis__create_check_room(store->root_fd, plan->sizing.file_bytes, name);
    if (rc < 0) return rc;
    tamis__create_describe(store, name, plan, &draft, &entry);
    entry.opened = filter ? tamis__open_entered : NULL;
    entry.context = filter;
    rc = tamis__draft_stage(store, &draft);
    return rc < 0 ? rc : tamis__drafts_enter(store, &entry);
}

TAMIS_API int tamis_filter_create(tamis_store *store, const char *name,
                                  const struct tamis_filter_spec *spec, tamis_filter **filter)
{
    TAMIS__REFUSE_NULL(store, "store");
    struct tamis__plan plan;
    int rc = tamis__create_plan(name, spec, &plan);
    if (rc == 0) rc = tamis__check_writable(store);
    if (rc < 0) return rc;
    return create(store, name, &plan, filter);
}

/* The sentence gives neither value of a seed or a secret. */
static int fail_secret_mismatch(const char *name, const char *field)
{
    char quoted[TAMIS__QUOTED_BYTES];
    return tamis__fail(TAMIS_EMISMATCH,
                       "the filter %s exists with another %s; ask for the same, or choose another "
                       "name",
                       tamis__quote(quoted, name), field);
}

static int fail_mismatch(const char *name, const char *field, const char *have, const char *want)
{
    char quoted[TAMIS__QUOTED_BYTES];
    return tamis__fail(
        TAMIS_EMISMATCH,
        "the filter %s exists with %s %s, not %s; ask for the same, or choose another "
        "name",
        tamis__quote(quoted, name), field, have, want);
}

static int fail_numbers(const char *name, const char *field, uint64_t have, uint64_t want)
{
    char have_text[24], want_text[24];
    (void)snprintf(have_text, sizeof have_text, "%llu", (unsigned long long)have);
    (void)snprintf(want_text, sizeof want_text, "%llu", (unsigned long long)want);
    return fail_mismatch(name, field, have_text, want_text);
}

static int fail_rates(const char *name, const char *field, double have, double want)
{
    char have_text[32], want_text[32];
    (void)snprintf(have_text, sizeof have_text, "%.6g", have);
    (void)snprintf(want_text, sizeof want_text, "%.6g", want);
    return fail_mismatch(name, field, have_text, want_text);
}

static int fail_hash_sets(const char *name, const struct tamis__listed_segment *have,
                          const struct tamis__listed_segment *want)
{
    char have_name[TAMIS_HASH_SET_NAME_MAX + 1], want_name[TAMIS_HASH_SET_NAME_MAX + 1];
    if (have->hash_set == want->hash_set && tamis__hash_set_by_id(want->hash_set)->keyed)
        return fail_secret_mismatch(name, "secret");
    tamis__hash_set_name(have->hash_set, have->parameters, have_name);
    tamis__hash_set_name(want->hash_set, want->parameters, want_name);
    return fail_mismatch(name, "hash set", have_name, want_name);
}

static const char *kind_name(uint32_t id)
{
    const char *name = tamis_kind_name(id);
    return name ? name : "of another version";
}

/* `have` and `want` are of the struct that the parameter belongs to.  The hash set has a sentence
 * of its own. */
static int fail_parameter(const char *name, const struct tamis__parameter *p, const void *have,
                          const void *want)
{
    if (p->shown == TAMIS__AS_SECRET) return fail_secret_mismatch(name, p->name);
    if (p->shown == TAMIS__AS_KEY_RULE)
        return fail_mismatch(name, p->name, tamis__key_rule_name((const char *)have + p->offset),
                             tamis__key_rule_name((const char *)want + p->offset));
    const uint64_t has = tamis__parameter_number(p, have), asked = tamis__parameter_number(p, want);
    switch (p->shown) {
    case TAMIS__AS_KIND:
        return fail_mismatch(name, p->name, kind_name((uint32_t)has), kind_name((uint32_t)asked));
    case TAMIS__AS_RATE:
        return fail_rates(name, p->name, tamis__double_from_bits(has),
                          tamis__double_from_bits(asked));
    case TAMIS__AS_ON_FULL:
        return fail_mismatch(name, p->name, tamis_on_full_name((uint32_t)has),
                             tamis_on_full_name((uint32_t)asked));
    case TAMIS__AS_FIRST_LAST:
        return fail_mismatch(name, p->name, has ? "first" : "last", asked ? "first" : "last");
    case TAMIS__AS_ON_OFF:
        return fail_mismatch(name, p->name, has ? "on" : "off", asked ? "on" : "off");
    default:
        return fail_numbers(name, p->name, has, asked);
    }
}

/* Takes from the filter what the plan left open. */
static void take_open(const struct tamis__plan *plan, const struct tamis__listed_segment *have,
                      struct tamis__listed_segment *want)
{
    want->bit_order = have->bit_order; /* that of a filter made from a bitmap is not its set's */
    if (plan->any_secret && plan->hash_set->keyed && have->hash_set == want->hash_set)
        memcpy(want->parameters, have->parameters, sizeof want->parameters);
    /* If m and k followed from n and p, they may follow differently in another version. */
    if (plan->explicit_geometry) return;
    want->m_bits = have->m_bits;
    want->k = have->k;
}

int tamis__create_compare(const char *name, const struct tamis__plan *plan,
                          const struct tamis__record *record)
{
    const struct tamis__listed_segment *have = &record->segments[0];
    struct tamis__listed_segment want;
    struct tamis__policy policy = record->policy, wanted = plan->policy;
    tamis__plan_describe(plan, &want);
    take_open(plan, have, &want);
    policy.on_full = tamis__policy_on_full(&record->policy);
    if (fabs(policy.fp_rate - wanted.fp_rate) <= 1e-9 * policy.fp_rate)
        wanted.fp_rate = policy.fp_rate;
    const struct tamis__parameter *p =
        tamis__first_difference(tamis__segment_parameters, TAMIS__OF_BITS, have, &want);
    if (p != NULL && p->shown == TAMIS__AS_HASH_SET) return fail_hash_sets(name, have, &want);
    if (p != NULL) return fail_parameter(name, p, have, &want);
    p = tamis__first_difference(tamis__policy_parameters, TAMIS__IN_HEADER, &policy, &wanted);
    return p != NULL ? fail_parameter(name, p, &policy, &wanted) : 0;
}

/* Opens the filter if it exists and is as planned; TAMIS_ENOTFOUND if it does not exist. */
static int open_planned(struct tamis_store *store, const char *name, const struct tamis__plan *plan,
                        tamis_filter **filter)
{
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    int rc = tamis__catalog_begin(&store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    rc = tamis__store_get(store, txn, name, &record);
    if (rc == 0) rc = tamis__create_compare(name, plan, &record);
    if (rc == 0) rc = tamis__filter_open_record(store, &record, 0, filter);
    tamis__catalog_end(txn);
    return rc < 0 ? rc : tamis__filter_come_up(store, filter);
}

TAMIS_API int tamis_filter_open_or_create(tamis_store *store, const char *name,
                                          const struct tamis_filter_spec *spec,
                                          tamis_filter **filter)
{
    TAMIS__REFUSE_NULL(store, "store");
    TAMIS__REFUSE_NULL(filter, "filter");
    struct tamis__plan plan;
    int rc = tamis__create_plan(name, spec, &plan);
    if (rc == 0) rc = tamis__check_writable(store);
    if (rc < 0) return rc;
    do { /* again if another process made or dropped it in between */
        rc = open_planned(store, name, &plan, filter);
        if (rc == TAMIS_ENOTFOUND) rc = create(store, name, &plan, filter);
    } while (rc == TAMIS_EEXIST);
    return rc;
}
