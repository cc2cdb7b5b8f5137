/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rescue_old.c: compares the catalog that a rescue makes with the old one, which can be read.
 *
 * The old catalog may be older than the segments: then a filter has a segment of a later
 * publication than its old record, and what the record lists besides may rightly be gone.  Where a
 * filter has none, nothing has replaced what the record lists.  Then a segment that is not there is
 * missing:
 *
 *     in force, all        an earlier generation that is there is in force; if there is none, the
 *                          filter keeps its old record, and its kept generations
 *     in force, some       the filter goes on without them, and is unclean (rescue_filter.c)
 *     kept, some or all    the generation keeps its old record
 *
 * Each of these is reported.  When the files come back, a record that was kept is whole again, and
 * a repair takes the other segments in (adopt.c).
 */
#include "check/rescue.h"
#include "segment/live.h"
#include "segment/mark.h"
#include "txn/recover.h"

struct comparison {
    struct tamis__rescue_work *rescue;
    struct tamis__catalog_txn *old;
};

/* The segments of a filter that were found; NULL: there are none. */
static const struct tamis__lost_filter *find_filter(const struct tamis__rescue_work *rescue,
                                                    uint64_t filter_id)
{
    for (size_t low = 0, high = rescue->count; low < high;) {
        const size_t middle = low + (high - low) / 2;
        const uint64_t id = rescue->filters[middle].first->filter_id;
        if (id == filter_id) return &rescue->filters[middle];
        if (id < filter_id)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static const struct tamis__found *find_segment(const struct tamis__rescue_work *rescue,
                                               const struct tamis__lost_filter *filter,
                                               uint64_t number)
{
    for (size_t i = 0; filter != NULL && i < filter->count; i++)
        if (filter->first[i].entry.number == number &&
            filter->first[i].store_id == rescue->store.store_id)
            return &filter->first[i];
    return NULL;
}

/* Is the filter's old record out of date? */
static bool is_outdated(const struct tamis__lost_filter *filter, const struct tamis__record *old)
{
    for (size_t i = 0; filter != NULL && i < filter->count; i++)
        if (filter->first[i].entry.kind != TAMIS__KIND_EXCEPTIONS &&
            (filter->first[i].publication > old->publication ||
             filter->first[i].next == TAMIS__NEXT_DROPPED))
            return true;
    return false;
}

/* Returns how many segments of the old record are missing; *first is one of them. */
static uint32_t count_missing(const struct tamis__rescue_work *rescue,
                              const struct tamis__lost_filter *filter,
                              const struct tamis__record *old, uint64_t *first)
{
    uint32_t missing = 0;
    for (uint32_t i = old->segment_count; i > 0; i--) {
        if (find_segment(rescue, filter, old->segments[i - 1].number) != NULL) continue;
        *first = old->segments[i - 1].number;
        missing++;
    }
    return missing;
}

/* Has the filter another list, which the rescue has put in force? */
static bool has_list(const struct tamis__rescue_work *rescue,
                     const struct tamis__lost_filter *filter)
{
    for (size_t i = 0; filter != NULL && i < filter->count; i++)
        if (filter->first[i].entry.kind != TAMIS__KIND_EXCEPTIONS &&
            filter->first[i].store_id == rescue->store.store_id && !filter->first[i].is_blank_spare)
            return true;
    return false;
}

/* ---- What stays ------------------------------------------------------------------------------ */

static int keep_generation(void *context, const struct tamis__record *old)
{
    const struct comparison *c = context;
    return tamis__catalog_put_generation(c->rescue->txn, old);
}

/* Puts the old record of a filter into the new catalog, in the place of what may be there. */
static int keep_record(struct comparison *c, const struct tamis__record *old)
{
    struct tamis__catalog_txn *txn = c->rescue->txn;
    struct tamis__record *record = &c->rescue->record, other;
    int rc = tamis__catalog_get_by_id(txn, old->filter_id, record);
    if (rc == 0) rc = tamis__catalog_forget(txn, record);
    if (rc < 0 && rc != TAMIS_ENOTFOUND) return rc;
    *record = *old;
    while ((rc = tamis__catalog_get(txn, record->name, &other)) == 0)
        tamis__rescue_make_name(record->name, record->filter_id, record->name);
    if (rc != TAMIS_ENOTFOUND) return rc;
    rc = tamis__catalog_put(txn, record);
    return rc < 0 ? rc : tamis__catalog_each_generation(c->old, old->filter_id, keep_generation, c);
}

static int tell_missing(struct comparison *c, const char *name, uint64_t number, const char *words)
{
    char file[TAMIS__FILE_BYTES];
    return tamis__repair_tell(c->rescue->repair, name, tamis__check_file(number, file),
                              TAMIS_ECORRUPT, "%s", words);
}

/* ---- What is compared ------------------------------------------------------------------------ */

/* Has a step told already that the filter lacks a part? */
static bool was_told(const struct tamis__repair *repair, const char *name)
{
    for (const struct tamis__finding *note = repair->notes.first; note != NULL; note = note->next)
        if (note->error != 0 && strcmp(note->filter, name) == 0) return true;
    return false;
}

/* Notes keys that the old catalog had counted, and that a segment lacks. */
static int compare_items(struct comparison *c, const struct tamis__record *old,
                         const struct tamis__listed_segment *entry)
{
    struct tamis__repair *repair = c->rescue->repair;
    struct tamis__segment segment;
    char file[TAMIS__FILE_BYTES];
    if (tamis__segment_open(&repair->store->place, entry->number, false, &segment) < 0) return 0;
    const struct tamis__missing missing = {
        .filter_id = old->filter_id,
        .segment = entry->number,
        .since = tamis__clean_until_of(segment.live, entry->created_at),
        .keys = old->policy.durable && tamis__mark_is_stale(segment.live)
                    ? 0 /* the logs bring them back */
                    : tamis__missing_items(entry, &segment)};
    const uint64_t items = tamis__segment_items(&segment);
    tamis__segment_close(&segment);
    if (missing.keys == 0) return 0;
    const int rc =
        c->rescue->txn == NULL ? 0 : tamis__note_missing(repair->store, c->rescue->txn, &missing);
    return rc < 0 ? rc
                  : tamis__repair_tell(
                        repair, old->name, tamis__check_file(entry->number, file), TAMIS_ECORRUPT,
                        "has counted %" PRIu64 " items, and the old catalog knew of %" PRIu64
                        ": keys are gone, and the filter is unclean until 'tamis "
                        "sync --accept'; restore a copy, or add them again",
                        items, entry->items);
}

static int compare_record(void *context, const struct tamis__record *old)
{
    struct comparison *c = context;
    struct tamis__rescue_work *rescue = c->rescue;
    const struct tamis__lost_filter *filter = find_filter(rescue, old->filter_id);
    uint64_t number = 0;
    int rc = 0;
    if (is_outdated(filter, old)) return 0;
    const uint32_t missing = count_missing(rescue, filter, old, &number);
    if (missing == old->segment_count && has_list(rescue, filter))
        return tell_missing(c, old->name, number,
                            "is missing or damaged, and had what was in force: an earlier "
                            "generation is in force instead; when the file is back, 'tamis repair "
                            "--rebuild' puts it in force again");
    if (missing == old->segment_count) {
        rescue->left_over++;
        if (rescue->txn != NULL) rc = keep_record(c, old);
        return rc < 0 ? rc
                      : tell_missing(c, old->name, number,
                                     "is missing or damaged, and the filter has no other segment: "
                                     "it stays in the catalog, and does not answer until the file "
                                     "is back; restore it from a copy, or drop the filter");
    }
    if (missing > 0 && !was_told(rescue->repair, old->name))
        rc = tell_missing(c, old->name, number,
                          "is a part of the filter, and missing or damaged: keys in it answer "
                          "absent from now on; restore it from a copy and run 'tamis repair', or "
                          "drop the filter");
    for (uint32_t i = 0; rc == 0 && i < old->segment_count; i++)
        if (find_segment(rescue, filter, old->segments[i].number) != NULL)
            rc = compare_items(c, old, &old->segments[i]);
    return rc;
}

static int compare_generation(void *context, const struct tamis__record *old)
{
    struct comparison *c = context;
    struct tamis__record filter;
    const struct tamis__lost_filter *found = find_filter(c->rescue, old->filter_id);
    uint64_t number = 0;
    int rc = tamis__catalog_get_by_id(c->old, old->filter_id, &filter);
    if (rc < 0) return rc == TAMIS_ENOTFOUND ? 0 : rc;
    if (is_outdated(found, &filter) || count_missing(c->rescue, found, old, &number) == 0) return 0;
    if (c->rescue->txn != NULL) rc = tamis__catalog_put_generation(c->rescue->txn, old);
    return rc < 0 ? rc
                  : tell_missing(c, filter.name, number,
                                 "is missing or damaged, so a generation that is kept cannot be in "
                                 "force again until it is back; restore it from a copy");
}

/* The filter keeps the id that a server knows it by. */
static int keep_tag(void *context, const struct tamis__record *old)
{
    const struct comparison *c = context;
    struct tamis__record *record = &c->rescue->record;
    int rc = tamis__catalog_get_by_id(c->rescue->txn, old->filter_id, record);
    if (rc < 0) return rc == TAMIS_ENOTFOUND ? 0 : rc;
    rc = tamis__catalog_copy_tag(c->old, c->rescue->txn, old->filter_id);
    return rc < 0 ? rc : 0;
}

static int keep_tags(struct comparison *c)
{
    uint64_t known_as;
    int rc = tamis__catalog_get_known_as(c->old, &known_as);
    if (rc == 0) rc = tamis__catalog_put_known_as(c->rescue->txn, known_as);
    return rc < 0 ? rc : tamis__catalog_each(c->old, "", keep_tag, c);
}

int tamis__rescue_compare(struct tamis__rescue_work *rescue)
{
    struct comparison c = {.rescue = rescue};
    int rc = tamis__catalog_begin_held(&rescue->repair->store->catalog, TAMIS__LOCK_SHARED, &c.old);
    if (rc == 0) rc = tamis__catalog_each(c.old, "", compare_record, &c);
    if (rc == 0) rc = tamis__catalog_each_generation(c.old, 0, compare_generation, &c);
    if (rc == 0 && rescue->txn != NULL) rc = keep_tags(&c);
    tamis__catalog_end(c.old);
    /* A catalog of which a part is damaged has told what it could. */
    return rc == TAMIS_ECORRUPT || rc == TAMIS_EFOREIGN ? 0 : rc;
}
