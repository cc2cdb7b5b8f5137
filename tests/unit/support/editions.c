/* SPDX-License-Identifier: BSD-2-Clause */
#include "editions.h"

#include "fixture.h"
#include "txn/draft.h"
#include "txn/plan.h"

int editions_publish(tamis_store *store, const char *name, uint64_t from, uint64_t count,
                     const struct tamis__exceptions *by_hand, const struct tamis__exceptions *found)
{
    const struct tamis_filter_spec spec = {.size = sizeof spec, .capacity = count, .fp_rate = 1e-6};
    struct tamis__plan plan;
    struct tamis__record_segment described;
    struct tamis__draft draft;
    struct tamis__segment segment;
    struct tamis_build_result result = {.size = sizeof result};
    assert_done(tamis__plan_filter(&spec, &plan));
    tamis__plan_describe(&plan, &described);
    tamis__draft_init(store, name, &described, &draft);
    assert_done(tamis__draft_stage(store, &draft));
    assert_done(tamis__segment_map_staged(&store->place, &draft.staged, &draft.header, &segment));
    for (uint64_t key = from; key < from + count; key++)
        (void)tamis__kind_by_id(described.kind)->add(&segment, &key, sizeof key);
    tamis__segment_close(&segment);
    tamis__header_set_items(&draft.header, count);
    assert_done(tamis__segment_sync_staged(&store->place, &draft.staged));
    struct tamis__edition edition = {.name = name,
                                     .draft = &draft,
                                     .capacity = plan.sizing.capacity,
                                     .fp_rate = plan.policy.fp_rate,
                                     .policy = plan.policy,
                                     .by_hand = by_hand,
                                     .found = found};
    return tamis__publish_edition(store, &edition, &result);
}
