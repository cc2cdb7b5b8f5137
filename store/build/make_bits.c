/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * make_bits.c: makes a segment of a kind that can be added to, from the keys in the spool, in the
 * mapping of a staged file.  Bits are ORed, so neither the order of the keys nor duplicates change
 * the result.  The item count is the number of distinct digests.
 */
#include "build/build.h"
#include "plan/plan.h"

static int plan_for(struct tamis_build *build, uint64_t keys)
{
    struct tamis_filter_spec spec = build->filter;
    if (spec.capacity < keys) spec.capacity = keys;
    return tamis__plan_filter(&spec, &build->plan);
}

int tamis__build_plan_bits(struct tamis_build *build)
{
    return plan_for(build, 1);
}

int tamis__build_size_bits(struct tamis_build *build)
{
    const uint64_t keys = build->keyset.distinct;
    return plan_for(build, keys > 0 ? keys : 1);
}

static int64_t add_keys(struct tamis_build *build, const struct tamis__segment *segment,
                        const struct tamis_key *keys, size_t count)
{
    uint8_t answers[TAMIS__SPOOL_BATCH];
    const struct tamis__kind *kind = tamis__kind_by_id(build->draft.header.kind);
    return kind->add_batch(segment, keys, count, answers);
}

int tamis__build_make_bits(struct tamis_build *build)
{
    struct tamis_store *store = build->store;
    struct tamis__listed_segment segment;
    tamis__plan_describe(&build->plan, &segment);
    segment.items = build->keyset.distinct;
    tamis__draft_init(store, build->name, &segment, &build->draft);
    int rc = tamis__crew_phase(&build->crew, TAMIS_BUILD_MAKING, build->keyset.distinct);
    if (rc == 0) rc = tamis__draft_stage(store, &build->draft);
    if (rc == 0)
        rc = tamis__segment_map_staged(&store->place, &build->draft.staged, &build->draft.header,
                                       &build->segment);
    /* In the order in which they came; any order would do. */
    return rc != 0 ? rc : tamis__build_each_batch(build, &build->raw, &build->segment, add_keys);
}
