/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * create.c: makes a filter in the store from a spec.
 *
 * What may be refused is refused first (txn/plan.h). txn/draft.c and txn/commit.c make the rest.
 */
#include <math.h>

#include "catalog/parameters.h"
#include "handle/open.h"
#include "hash/hash_set.h"
#include "txn/draft.h"
#include "txn/enter.h"
#include "txn/plan.h"
#include "txn/policy.h"
#include "txn/spares.h"
#include "txn/store.h"

static int check_room(int dir_fd, uint64_t file_bytes, const char *name)
{
    char quoted[TAMIS__QUOTED_BYTES], what[TAMIS__QUOTED_BYTES + 16];
    (void)snprintf(what, sizeof what, "the filter %s", tamis__quote(quoted, name));
    return tamis__check_room(dir_fd, file_bytes, what);
}

/* Makes a plan from the caller's spec, and checks the name. */
static int plan_of(const char *name, const struct tamis_filter_spec *spec, struct tamis__plan *plan)
{
    struct tamis_filter_spec own;
    int rc = tamis__check_name(name);
    if (rc == 0) rc = tamis__take_struct(spec, &own, sizeof own, "struct tamis_filter_spec");
    return rc < 0 ? rc : tamis__plan_filter(&own, plan);
}

TAMIS_API int tamis_filter_check(const char *store_path, const char *name,
                                 const struct tamis_filter_spec *spec)
{
    struct tamis__plan plan;
    int fd = -1, rc = plan_of(name, spec, &plan);
    if (rc < 0 || store_path == NULL) return rc;
    rc = tamis__open_nearest(store_path, &fd);
    if (rc < 0) return rc;
    rc = check_room(fd, plan.sizing.file_bytes, name);
    tamis__close(fd);
    return rc;
}

static int create(struct tamis_store *store, const char *name, const struct tamis__plan *plan,
                  tamis_filter **filter)
{
    struct tamis__record_segment segment;
    struct tamis__draft draft;
    const struct tamis__entry entry = {.name = name,
                                       .drafts = &draft,
                                       .count = 1,
                                       .capacity = plan->sizing.capacity,
                                       .fp_rate = plan->policy.fp_rate,
                                       .policy = plan->policy,
                                       .owned = plan->owned,
                                       .opened = filter ? tamis__open_entered : NULL,
                                       .context = filter};
    int rc = tamis__check_absent(store, name);
    if (rc == 0) rc = check_room(store->root_fd, plan->sizing.file_bytes, name);
    if (rc < 0) return rc;
    tamis__plan_describe(plan, &segment);
    tamis__draft_init(store, name, &segment, &draft);
    rc = tamis__draft_stage(store, &draft);
    return rc < 0 ? rc : tamis__drafts_enter(store, &entry);
}

TAMIS_API int tamis_filter_create(tamis_store *store, const char *name,
                                  const struct tamis_filter_spec *spec, tamis_filter **filter)
{
    TAMIS__REFUSE_NULL(store, "store");
    struct tamis__plan plan;
    int rc = plan_of(name, spec, &plan);
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

static int compare_numbers(const char *name, const char *field, uint64_t have, uint64_t want)
{
    char have_text[24], want_text[24];
    if (have == want) return 0;
    (void)snprintf(have_text, sizeof have_text, "%llu", (unsigned long long)have);
    (void)snprintf(want_text, sizeof want_text, "%llu", (unsigned long long)want);
    return fail_mismatch(name, field, have_text, want_text);
}

static int compare_rates(const char *name, double have, double want)
{
    char have_text[32], want_text[32];
    if (fabs(have - want) <= 1e-9 * have) return 0;
    (void)snprintf(have_text, sizeof have_text, "%.6g", have);
    (void)snprintf(want_text, sizeof want_text, "%.6g", want);
    return fail_mismatch(name, "rate", have_text, want_text);
}

static int compare_hash_sets(const char *name, const struct tamis__record_segment *have,
                             const struct tamis__plan *want)
{
    char have_name[TAMIS_HASH_SET_NAME_MAX + 1], want_name[TAMIS_HASH_SET_NAME_MAX + 1];
    const bool same = have->hash_set == want->hash_set->id;
    if (same && memcmp(have->parameters, want->parameters, sizeof have->parameters) == 0) return 0;
    if (same && want->hash_set->keyed)
        return want->any_secret ? 0 : fail_secret_mismatch(name, "secret");
    tamis__hash_set_name(have->hash_set, have->parameters, have_name);
    tamis__hash_set_name(want->hash_set->id, want->parameters, want_name);
    return fail_mismatch(name, "hash set", have_name, want_name);
}

static const char *kind_name(uint32_t id)
{
    const char *name = tamis_kind_name(id);
    return name ? name : "of another version";
}

/* All but the capacity and the rate, which the caller compares. */
static int compare_policies(const char *name, const struct tamis__policy *have,
                            const struct tamis__policy *want)
{
    struct tamis__policy is = *have;
    int rc = 0;
    is.on_full = tamis__policy_on_full(have);
    for (const struct tamis__parameter *p = tamis__policy_parameters; rc == 0 && p->name; p++) {
        if (p->shown == TAMIS__AS_RATE || p->offset == offsetof(struct tamis__policy, capacity) ||
            !tamis__parameter_differs(p, &is, want))
            continue;
        if (p->shown == TAMIS__AS_ON_FULL)
            rc = fail_mismatch(name, p->name, tamis_on_full_name(is.on_full),
                               tamis_on_full_name(want->on_full));
        else if (p->shown == TAMIS__AS_ON_OFF)
            rc = fail_mismatch(name, p->name, is.durable ? "on" : "off",
                               want->durable ? "on" : "off");
        else
            rc = compare_numbers(name, p->name, tamis__parameter_number(p, &is),
                                 tamis__parameter_number(p, want));
    }
    return rc;
}

/* Is the existing filter what the plan wants?  TAMIS_EMISMATCH with the first difference. */
static int compare_plan(const char *name, const struct tamis__plan *plan,
                        const struct tamis__record *record)
{
    const struct tamis__record_segment *s = &record->segments[0];
    const struct tamis_sizing *want = &plan->sizing;
    int rc = 0;
    if (s->kind != want->kind)
        rc = fail_mismatch(name, "kind", kind_name(s->kind), kind_name(want->kind));
    if (rc == 0) rc = compare_hash_sets(name, s, plan);
    if (rc == 0)
        rc = compare_numbers(name, "bits per counter", s->counter_bits, want->counter_bits);
    if (rc == 0)
        rc = compare_numbers(name, "capacity", record->policy.capacity, plan->policy.capacity);
    if (rc == 0) rc = compare_rates(name, record->policy.fp_rate, plan->policy.fp_rate);
    if (rc == 0) rc = compare_policies(name, &record->policy, &plan->policy);
    /* If m and k followed from n and p, they may follow differently in another version. */
    if (rc == 0 && plan->explicit_geometry)
        rc = compare_numbers(name, "m", s->m_bits, want->m_bits);
    if (rc == 0 && plan->explicit_geometry) rc = compare_numbers(name, "k", s->k, want->k);
    return rc < 0 || s->seed == plan->seed ? rc : fail_secret_mismatch(name, "seed");
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
    if (rc == 0) rc = compare_plan(name, plan, &record);
    if (rc == 0) rc = tamis__filter_open_record(store, &record, false, filter);
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
    int rc = plan_of(name, spec, &plan);
    if (rc == 0) rc = tamis__check_writable(store);
    if (rc < 0) return rc;
    do { /* again if another process made or dropped it in between */
        rc = open_planned(store, name, &plan, filter);
        if (rc == TAMIS_ENOTFOUND) rc = create(store, name, &plan, filter);
    } while (rc == TAMIS_EEXIST);
    return rc;
}
