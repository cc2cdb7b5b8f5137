/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unchanged.c: is the generation in force what this build would make?
 *
 * Keys, spec and seed determine the bytes.  If these are the same, the segment is the same.  If
 * there are keys known to be good, the segment in force is asked for them, and must give the
 * exceptions that it has.  If others have added keys since, the filter has more items than it was
 * built with.
 */
#include "build/build.h"
#include "catalog/parameters.h"
#include "plan/plan.h"
#include "plan/policy.h"
#include "txn/exceptions.h"
#include "txn/spares.h"

/* What is in force at one moment. */
struct in_force {
    struct tamis__record record;
    struct tamis__exceptions_source source;
    struct tamis__exceptions all;
    struct tamis__mapped_segment segment;
    bool open;
};

/* Describes the segment that the build would make.  The keys decide the rest of one of kind fuse;
 * it is taken from `s`. */
static void describe_build(const struct tamis_build *build, const struct tamis__listed_segment *s,
                           struct tamis__listed_segment *asked)
{
    if (build->fingerprint_bits == 0) {
        tamis__plan_describe(&build->plan, asked);
        return;
    }
    *asked = *s;
    asked->kind = TAMIS_KIND_FUSE;
    asked->hash_set = build->plan.hash_set->id;
    asked->seed = build->filter.seed;
    memcpy(asked->parameters, build->plan.parameters, sizeof asked->parameters);
    asked->fp_rate = build->filter.fp_rate;
    asked->fingerprint_bits = build->fingerprint_bits;
}

static bool same_plan(const struct tamis_build *build, const struct tamis__record *record)
{
    const struct tamis__listed_segment *s = &record->segments[0];
    struct tamis__listed_segment asked;
    describe_build(build, s, &asked);
    return record->segment_count == 1 &&
           tamis__first_difference(tamis__segment_parameters, TAMIS__OF_BITS, s, &asked) == NULL &&
           s->capacity == asked.capacity && s->fp_rate == asked.fp_rate &&
           strcmp(record->policy.key_rule, build->rule.text) == 0 &&
           (build->fingerprint_bits != 0 ||
            tamis__policy_stays(&record->policy, &build->plan.policy));
}

static bool same_spec(const struct tamis_build *build, const struct tamis__record *record)
{
    const bool keeps = (build->spec.flags & TAMIS_BUILD_KEEP) != 0;
    return memcmp(record->key_digest, build->result.key_digest, sizeof record->key_digest) == 0 &&
           same_plan(build, record) && (!keeps || build->spec.keep == record->keep);
}

/* Reads what is in force.  Returns 1 if there is more to compare, 0 if it differs already. */
static int read_in_force(struct tamis_build *build, struct in_force *now)
{
    struct tamis__catalog_txn *txn;
    struct tamis__record *record = &now->record;
    int rc = tamis__catalog_begin(&build->store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    rc = tamis__store_get(build->store, txn, build->name, record);
    const bool differs = rc == TAMIS_ENOTFOUND || (rc == 0 && !same_spec(build, record));
    if (rc == 0 && !differs) rc = tamis__exceptions_open(build->store, record, &now->source);
    if (rc == 0 && !differs) {
        rc = tamis__open_segment(build->store, record, 0, false, &now->segment);
        now->open = rc == 0;
    }
    tamis__catalog_end(txn);
    if (differs) return 0;
    if (rc == 0) rc = tamis__exceptions_read(build->store, &now->source, &now->all);
    return rc < 0 ? rc : 1;
}

static int compare_in_force(struct tamis_build *build, const struct in_force *now)
{
    if (tamis__segment_items(&now->segment.segment) != build->keyset.distinct) return 0;
    if (!tamis__exceptions_all_in(&build->by_hand, &now->all, true)) return 0;
    int rc = tamis__crew_phase(&build->crew, TAMIS_BUILD_VERIFYING, build->against.keys);
    if (rc == 0) rc = tamis__build_judge(build, &now->segment.segment);
    if (rc != 0) return rc;
    return build->found.count == tamis__exceptions_count_found(&now->all) &&
           tamis__exceptions_all_in(&build->found, &now->all, false);
}

int tamis__build_is_in_force(struct tamis_build *build)
{
    struct in_force now = {.open = false};
    int rc = read_in_force(build, &now);
    if (rc == 1) rc = compare_in_force(build, &now);
    if (rc >= 0 && now.open && tamis__check_at_rest(&now.segment) < 0) rc = 0; /* it is replaced */
    if (rc == 1) {
        build->result.generation = now.record.generation;
        build->result.exceptions = now.record.exception_count;
        build->result.size_bytes = now.record.segments[0].file_bytes;
    }
    if (now.open) tamis__close_segment(&now.segment);
    tamis__exceptions_leave(&now.source);
    tamis__exceptions_clear(&now.all);
    /* A filter that cannot be opened is to be made anew: that is no error of this build. */
    if (rc == TAMIS_ECORRUPT || rc == TAMIS_EFOREIGN) rc = 0;
    return rc;
}
