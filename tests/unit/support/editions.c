/* SPDX-License-Identifier: BSD-2-Clause */
#include "editions.h"

#include "plan/plan.h"
#include "txn/draft.h"

/* What the edition has besides its segment is given. */
static int publish(tamis_store *store, const char *name, uint64_t from, uint64_t count,
                   struct tamis__edition edition)
{
    struct tamis__plan plan;
    struct tamis__listed_segment described;
    struct tamis__draft draft;
    struct tamis__segment segment;
    struct tamis__published published;
    assert_done(tamis__plan_filter(SPEC(.capacity = count, .fp_rate = 1e-6), &plan));
    tamis__plan_describe(&plan, &described);
    tamis__draft_init(store, name, &described, &draft);
    assert_done(tamis__draft_stage(store, &draft));
    assert_done(tamis__segment_map_staged(&store->place, &draft.staged, &draft.header, &segment));
    for (uint64_t key = from; key < from + count; key++)
        (void)tamis__kind_by_id(described.kind)->add(&segment, &key, sizeof key);
    tamis__segment_close(&segment);
    tamis__header_set_items(&draft.header, count);
    assert_done(tamis__segment_sync_staged(&store->place, &draft.staged, &draft.header));
    edition.name = name;
    edition.drafts = &draft;
    edition.count = 1;
    edition.capacity = plan.sizing.capacity;
    edition.fp_rate = plan.policy.fp_rate;
    edition.policy = plan.policy;
    const int rc = tamis__publish_edition(store, &edition, &published);
    if (rc == TAMIS__MOVED) tamis__drafts_discard(store, &draft, 1);
    return rc;
}

int editions_publish(tamis_store *store, const char *name, uint64_t from, uint64_t count,
                     const struct tamis__exceptions *by_hand, const struct tamis__exceptions *found)
{
    return publish(store, name, from, count,
                   (struct tamis__edition){.by_hand = by_hand, .found = found});
}

int editions_publish_over(tamis_store *store, const char *name, uint64_t from, uint64_t count,
                          struct tamis__over over)
{
    return publish(store, name, from, count,
                   (struct tamis__edition){.only_over = true, .over = over});
}

void editions_put(tamis_store *store, int g)
{
    assert_done(
        editions_publish(store, "list", (uint64_t)g * EDITIONS_KEYS, EDITIONS_KEYS, NULL, NULL));
}

void editions_put_excepting(tamis_store *store, uint64_t found)
{
    AUTO_EXCEPTIONS set = {0};
    assert_done(tamis__exceptions_add(&set, &found, sizeof found, 99));
    assert_done(tamis__exceptions_sort(&set));
    assert_done(editions_publish(store, "list", 0, EDITIONS_KEYS, NULL, &set));
}

int editions_answering(tamis_filter *filter)
{
    int answering = -1;
    for (int g = 0; g < 10; g++) {
        const uint64_t first = (uint64_t)g * EDITIONS_KEYS, end = first + EDITIONS_KEYS;
        if (keys_found(filter, first, end) == EDITIONS_KEYS) answering = answering < 0 ? g : 100;
    }
    return answering;
}

static int note_in_force(void *context, const struct tamis_generation_stat *stat)
{
    if (stat->in_force) *(uint64_t *)context = stat->generation;
    return 0;
}

uint64_t editions_in_force(tamis_store *store)
{
    uint64_t generation = 0;
    assert_done(tamis_filter_generations(store, "list", note_in_force, &generation));
    return generation;
}
