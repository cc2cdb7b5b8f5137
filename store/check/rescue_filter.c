/* SPDX-License-Identifier: BSD-2-Clause */
/* rescue_filter.c: makes the lists, records and exceptions of a filter from its segments; see
 * rescue.c. */
#include "check/rescue.h"
#include "exceptions/index.h"
#include "plan/policy.h"
#include "segment/broken.h"
#include "segment/live.h"
#include "segment/mark.h"
#include "txn/exceptions.h"
#include "txn/spares.h"

#define NO_LIST UINT32_MAX

struct list {
    const struct tamis__found *newest;
    uint64_t rank; /* in_force of its newest segment */
};

static bool is_index(const struct tamis__found *found)
{
    return found->entry.kind == TAMIS__KIND_EXCEPTIONS;
}

void tamis__rescue_make_name(const char *base, uint64_t filter_id, char made[TAMIS_NAME_MAX + 1])
{
    char suffix[32], name[TAMIS_NAME_MAX + 1];
    const size_t room = TAMIS_NAME_MAX - (size_t)snprintf(suffix, sizeof suffix, "~%llu",
                                                          (unsigned long long)filter_id);
    size_t bytes = strlen(base);
    if (bytes > room) bytes = room;
    while (bytes > 0 && ((unsigned char)base[bytes] & 0xC0) == 0x80)
        bytes--;
    (void)snprintf(name, sizeof name, "%.*s%s", (int)bytes, base, suffix);
    memcpy(made, name, sizeof name);
}

/* ---- Lists ----------------------------------------------------------------------------------- */

uint64_t tamis__rescue_rank(const struct tamis__found *newest)
{
    return newest->in_force != 0 ? newest->in_force : newest->publication;
}

/* Can `after` come after `before`?  Only if `before` names no other segment. */
static bool may_precede(const struct tamis__found *before, const struct tamis__found *after)
{
    return before->next == 0 || before->next == TAMIS__NEXT_REFUSE ||
           (before->next & ~TAMIS__NEXT_SPARE) == after->entry.number;
}

/*
 * Chooses the list that the segment goes on after: of those that it may come after, the one that
 * was in force last.  If it may come after none, a segment between is lost, and any list will do.
 */
static uint32_t list_before(const struct list *lists, uint32_t count,
                            const struct tamis__found *found)
{
    uint32_t best = NO_LIST;
    bool best_may = false;
    for (uint32_t i = 0; i < count; i++) {
        const bool may = may_precede(lists[i].newest, found);
        if (lists[i].rank > found->publication || (best_may && !may)) continue;
        if (best != NO_LIST && may == best_may && lists[i].rank < lists[best].rank) continue;
        best = i;
        best_may = may;
    }
    return best;
}

/* Was it made ahead, and never entered?  An entered segment that is blank may be left out as
 * well. */
static bool is_spare(const struct tamis__lost_filter *filter, const struct tamis__found *found)
{
    bool named = false;
    for (size_t i = 0; found->is_blank_spare && !named && i < filter->count; i++)
        named = filter->first[i].next == found->entry.number;
    return found->is_blank_spare && !named;
}

/* Numbers the lists of a filter.  Returns how many there are. */
static uint32_t split(const struct tamis__rescue_work *rescue,
                      const struct tamis__lost_filter *filter, struct list *lists)
{
    struct tamis__found *all = filter->first;
    uint32_t count = 0;
    for (size_t i = 0; i < filter->count; i++) {
        all[i].list = NO_LIST;
        if (all[i].store_id != rescue->store.store_id || all[i].left_out || is_index(&all[i]) ||
            is_spare(filter, &all[i]))
            continue;
        if (!all[i].list_start) all[i].list = list_before(lists, count, &all[i]);
        if (all[i].list == NO_LIST) all[i].list = count++;
        lists[all[i].list] = (struct list){&all[i], tamis__rescue_rank(&all[i])};
    }
    return count;
}

static uint32_t newest_list(const struct list *lists, uint32_t count)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; i++) {
        const struct list *a = &lists[i], *b = &lists[best];
        if (a->rank > b->rank ||
            (a->rank == b->rank && (a->newest->publication > b->newest->publication ||
                                    (a->newest->publication == b->newest->publication &&
                                     a->newest->entry.number > b->newest->entry.number))))
            best = i;
    }
    return best;
}

/* ---- Live words ------------------------------------------------------------------------------ */

static int tell_later(struct tamis__rescue_work *rescue, uint64_t number, size_t offset,
                      uint64_t value)
{
    struct tamis__word_to_tell *told =
        tamis__array_add(&rescue->told, &rescue->told_count, &rescue->told_room, sizeof *told,
                         "for the segments' lists");
    if (told == NULL) return TAMIS_ENOMEM;
    *told = (struct tamis__word_to_tell){number, value, offset};
    return 0;
}

static int link_to(struct tamis__rescue_work *rescue, const struct tamis__found *found,
                   uint64_t next)
{
    const bool refuses = next == 0 && found->next == TAMIS__NEXT_REFUSE &&
                         found->policy.on_full == TAMIS_ON_FULL_REFUSE;
    if (found->next == next || refuses) return 0;
    return tell_later(rescue, found->entry.number, offsetof(struct tamis__live, next), next);
}

/* ---- Records --------------------------------------------------------------------------------- */

static bool has_file(const struct tamis__lost_filter *filter, uint64_t number)
{
    for (size_t i = 0; i < filter->count; i++)
        if (filter->first[i].entry.number == number) return true;
    return false;
}

/* A segment beside this one is lost, with keys that were added after `since`.  So the filter is
 * unclean, which its header says before the new catalog is in force. */
static int note_lost_part(const struct tamis__rescue_work *rescue, const struct tamis__found *found,
                          int64_t since)
{
    const struct tamis__place *place = &rescue->repair->store->place;
    return rescue->repair->dry ? 0 : tamis__mark_miss(place, found->entry.number, since);
}

/* Does a segment of the list in force name one that is not there? */
static int check_gap(const struct tamis__rescue_work *rescue,
                     const struct tamis__lost_filter *filter, const struct tamis__found *found,
                     uint64_t follower)
{
    char file[TAMIS__FILE_BYTES];
    if (found->next == 0 || found->next == TAMIS__NEXT_REFUSE || found->next == follower ||
        tamis__next_spare(found->next) != 0 || has_file(filter, found->next)) /* of another list */
        return 0;
    const int rc = note_lost_part(rescue, found, found->entry.created_at);
    if (rc < 0) return rc;
    return tamis__repair_tell(
        rescue->repair, filter->name, tamis__check_file(found->next, file), TAMIS_ECORRUPT,
        "is a part of the filter, and missing or damaged: keys in it answer absent from now on; "
        "restore it from a copy and run 'tamis repair', or drop the filter");
}

/* May the window have left behind what was before the first segment of its list?  A window in items
 * leaves a slice when so many others have begun.  One in time leaves what is past; if that is all,
 * the newest segment alone stays.  How long slices before this one lasted, nobody knows. */
static bool may_be_left(const struct tamis__found *first, const struct tamis__found *newest)
{
    const struct tamis__policy *policy = &newest->policy;
    if (policy->slices == 0) return false;
    if (policy->window_ns > 0)
        return first->entry.step == 0 ||
               tamis__policy_past_at(policy, first->entry.slice_start) <= tamis__now_ns();
    return first->entry.step == 0 &&
           (first->entry.slice == 0 ||
            tamis__policy_is_behind(policy, first->entry.slice - 1, newest->entry.slice));
}

/* Does the list begin with its first segment? */
static int check_start(const struct tamis__rescue_work *rescue,
                       const struct tamis__lost_filter *filter, const struct tamis__found *first,
                       const struct tamis__found *newest)
{
    char file[TAMIS__FILE_BYTES];
    if (first->list_start || may_be_left(first, newest)) return 0;
    const int rc = note_lost_part(rescue, first, rescue->store.created_at);
    if (rc < 0) return rc;
    return tamis__repair_tell(
        rescue->repair, filter->name, tamis__check_file(first->entry.number, file), TAMIS_ECORRUPT,
        "is not the first segment of the filter, which is missing or damaged: keys in that answer "
        "absent from now on; restore it from a copy and run 'tamis repair', or drop the filter");
}

static bool is_left_behind(const struct tamis__found *found, const struct tamis__found *newest)
{
    return newest->policy.slices > 0 &&
           found->entry.slice + newest->policy.slices < newest->entry.slice;
}

/* A segment that was made ahead, and to which nobody wrote, is garbage, as after any change. */
static int drop_spares(const struct tamis__rescue_work *rescue,
                       const struct tamis__lost_filter *filter)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && rescue->txn != NULL && i < filter->count; i++)
        if (filter->first[i].store_id == rescue->store.store_id &&
            is_spare(filter, &filter->first[i]))
            rc = tamis__catalog_put_garbage(rescue->txn, filter->first[i].entry.number);
    return rc;
}

/* Puts the segments of a list into the record, but those that its window has left behind, and the
 * oldest ones where there are too many. */
static void collect_segments(struct tamis__rescue_work *rescue,
                             const struct tamis__lost_filter *filter, uint32_t list,
                             const struct tamis__found *newest)
{
    struct tamis__record *record = &rescue->record;
    uint32_t total = 0;
    for (size_t i = 0; i < filter->count; i++)
        total += filter->first[i].list == list && !is_left_behind(&filter->first[i], newest);
    for (size_t i = 0; i < filter->count; i++) {
        const struct tamis__found *found = &filter->first[i];
        if (found->list != list || is_left_behind(found, newest)) continue;
        if (total > TAMIS__SEGMENTS_MAX)
            total--;
        else
            record->segments[record->segment_count++] = found->entry;
    }
}

/* Reports gaps in the list in force, and makes each segment name the one after it. */
static int link_list(struct tamis__rescue_work *rescue, const struct tamis__lost_filter *filter,
                     uint32_t list, const struct tamis__found *newest)
{
    const struct tamis__found *before = NULL;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < filter->count; i++) {
        const struct tamis__found *found = &filter->first[i];
        if (found->list != list) continue;
        if (before == NULL) {
            rc = check_start(rescue, filter, found, newest);
        } else {
            rc = check_gap(rescue, filter, before, found->entry.number);
            if (rc == 0) rc = link_to(rescue, before, found->entry.number);
        }
        before = found;
    }
    if (rc == 0 && before != NULL) rc = check_gap(rescue, filter, before, 0);
    return rc < 0 || before == NULL ? rc : link_to(rescue, before, 0);
}

/* Fills in the record, all but the exceptions. */
static void describe_lost_filter(struct tamis__rescue_work *rescue,
                                 const struct tamis__lost_filter *filter, uint32_t list,
                                 const struct tamis__found *newest)
{
    struct tamis__record *record = &rescue->record;
    *record = (struct tamis__record){.filter_id = newest->filter_id,
                                     .name_sequence = filter->name_sequence,
                                     .generation = newest->generation,
                                     .fp_rate = newest->policy.fp_rate,
                                     .created_at = newest->entry.created_at,
                                     .published_at = newest->entry.created_at,
                                     .policy = newest->policy};
    memcpy(record->name, filter->name, sizeof record->name);
    memcpy(record->key_digest, newest->key_digest, sizeof record->key_digest);
    uint64_t latest = 0;
    for (size_t i = 0; i < filter->count; i++) {
        const struct tamis__found *found = &filter->first[i];
        if (found->store_id != newest->store_id) continue;
        if (found->generation > record->last_generation)
            record->last_generation = found->generation;
        if (found->entry.created_at < record->created_at)
            record->created_at = found->entry.created_at;
        if (tamis__rescue_rank(found) > record->publication)
            record->publication = tamis__rescue_rank(found);
        if (found->publication >= latest) {
            latest = found->publication;
            record->keep = found->keep;
        }
    }
    collect_segments(rescue, filter, list, newest);
    record->capacity = newest->entry.capacity;
    for (uint32_t i = 0; i + 1 < record->segment_count; i++)
        record->capacity += record->segments[i].items;
}

/* ---- Exceptions ------------------------------------------------------------------------------ */

int tamis__rescue_take_index(struct tamis__rescue_work *rescue, const struct tamis__found *index)
{
    struct tamis__mapped_segment s = {0};
    const char *reason = NULL;
    uint64_t offset = 0;
    int rc = tamis__open_index(rescue->repair->store, index->entry.number, index->filter_id, &s);
    if (rc < 0) return rc == TAMIS_EIO || tamis__is_of_the_system(rc) ? rc : 0;
    if (tamis__index_verify(&s.segment, &offset, &reason) == 0) {
        rescue->record.exceptions = index->entry.number;
        rescue->record.exception_count = tamis__index_count(&s.segment);
        rc = tamis__segment_check(&s.segment);
        if (rc == 0) rc = 1;
    }
    tamis__close_segment(&s);
    return rc;
}

/* Chooses the index that the list names, else the newest one. */
static const struct tamis__found *choose_index(const struct tamis__lost_filter *filter,
                                               const struct tamis__found *newest)
{
    const struct tamis__found *best = NULL;
    for (size_t i = 0; i < filter->count; i++) {
        const struct tamis__found *found = &filter->first[i];
        if (found->store_id != newest->store_id || !is_index(found)) continue;
        if (found->entry.number == newest->exceptions) return found;
        if (best == NULL || found->publication >= best->publication) best = found;
    }
    return best;
}

static int rescue_exceptions(struct tamis__rescue_work *rescue,
                             const struct tamis__lost_filter *filter,
                             const struct tamis__found *newest)
{
    char file[TAMIS__FILE_BYTES];
    const struct tamis__found *index = newest->exceptions ? choose_index(filter, newest) : NULL;
    int rc = index != NULL ? tamis__rescue_take_index(rescue, index) : 0;
    const bool taken = rc > 0;
    if (rc < 0 || (taken && index->entry.number == newest->exceptions)) return rc < 0 ? rc : 0;
    if (newest->exceptions != 0)
        rc = tamis__repair_tell(
            rescue->repair, filter->name, tamis__check_file(newest->exceptions, file),
            TAMIS_ECORRUPT,
            taken ? "had the filter's exceptions, and is missing or damaged; those of an older "
                    "file are in force instead: look at them with 'tamis except'"
                  : "had the filter's exceptions, and is missing or damaged; there are none now: "
                    "enter them again with 'tamis except'");
    return rc < 0 ? rc
                  : tell_later(rescue, newest->entry.number,
                               offsetof(struct tamis__live, exceptions), rescue->record.exceptions);
}

/* Keeps the index of a kept list, if its build had found some of the exceptions. */
static int keep_exceptions(struct tamis__rescue_work *rescue,
                           const struct tamis__lost_filter *filter,
                           const struct tamis__found *newest)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && newest->exceptions != 0 && i < filter->count; i++) {
        struct tamis__found *found = &filter->first[i];
        if (found->entry.number != newest->exceptions || !is_index(found) || found->kept ||
            found->store_id != newest->store_id)
            continue;
        rc = tamis__rescue_take_index(rescue, found);
        found->kept = rc > 0;
    }
    return rc < 0 ? rc : 0;
}

/* ---- Filters --------------------------------------------------------------------------------- */

static int keep_lists(struct tamis__rescue_work *rescue, const struct tamis__lost_filter *filter,
                      const struct list *lists, uint32_t count, uint32_t in_force)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        bool again = false;
        for (uint32_t j = 0; j < count; j++) /* of two, the list in force or the later one */
            again |= j != i && i != in_force && (j == in_force || j > i) &&
                     lists[j].newest->generation == lists[i].newest->generation;
        if (i == in_force || again) continue;
        describe_lost_filter(rescue, filter, i, lists[i].newest);
        rescue->record.name[0] = '\0';
        rescue->record.publication = lists[i].rank;
        rc = keep_exceptions(rescue, filter, lists[i].newest);
        if (rc == 0) rc = tamis__numbers_append_files(&rescue->taken, &rescue->record);
        if (rc == 0 && rescue->txn != NULL)
            rc = tamis__catalog_put_generation(rescue->txn, &rescue->record);
    }
    return rc;
}

static int tell_filter(const struct tamis__rescue_work *rescue,
                       const struct tamis__lost_filter *filter, uint32_t kept)
{
    const struct tamis__record *record = &rescue->record;
    unsigned long long items = 0;
    for (uint32_t i = 0; i < record->segment_count; i++)
        items += record->segments[i].items;
    return tamis__repair_tell(
        rescue->repair, filter->name, "catalog.mdb", 0,
        "%s its record from the segments: %llu item%s in %u segment%s, %u kept generation%s, %llu "
        "exception%s%s",
        rescue->repair->dry ? "would get" : "has", items, tamis__plural(items),
        record->segment_count, tamis__plural(record->segment_count), kept, tamis__plural(kept),
        (unsigned long long)record->exception_count, tamis__plural(record->exception_count),
        filter->renamed ? "; its own name is another filter's, or lost: rename it" : "");
}

bool tamis__rescue_is_dropped(const struct tamis__rescue_work *rescue,
                              const struct tamis__lost_filter *filter)
{
    for (size_t i = 0; i < filter->count; i++)
        if (filter->first[i].store_id == rescue->store.store_id &&
            filter->first[i].next == TAMIS__NEXT_DROPPED)
            return true;
    return false;
}

int tamis__rescue_filter(struct tamis__rescue_work *rescue, const struct tamis__lost_filter *filter)
{
    struct list *lists = calloc(filter->count, sizeof *lists);
    if (lists == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory for a filter's lists");
    const uint32_t count = split(rescue, filter, lists);
    const uint32_t in_force = newest_list(lists, count);
    const struct tamis__found *newest = count > 0 ? lists[in_force].newest : NULL;
    int rc = 0;
    if (newest != NULL && newest->next == TAMIS__NEXT_DROPPED && !rescue->revives) {
        free(lists);
        return tamis__repair_tell(rescue->repair, filter->name, "catalog.mdb", 0,
                                  "does not get its record: the filter was dropped");
    }
    if (newest != NULL) { /* else the filter has only indexes left */
        rc = drop_spares(rescue, filter);
        if (rc == 0) rc = keep_lists(rescue, filter, lists, count, in_force);
        if (rc == 0) {
            describe_lost_filter(rescue, filter, in_force, newest);
            rc = link_list(rescue, filter, in_force, newest);
        }
        if (rc == 0) rc = rescue_exceptions(rescue, filter, newest);
        if (rc == 0) rc = tamis__numbers_append_files(&rescue->taken, &rescue->record);
        if (rc == 0 && rescue->txn != NULL) rc = tamis__catalog_put(rescue->txn, &rescue->record);
        if (rc == 0) rc = tell_filter(rescue, filter, count - 1);
    }
    free(lists);
    return rc;
}

/* ---- Segments that come back ------------------------------------------------------------------
 */

static const struct tamis__found *find_found(const struct tamis__lost_filter *filter,
                                             uint64_t number)
{
    for (size_t i = 0; i < filter->count; i++)
        if (filter->first[i].entry.number == number) return &filter->first[i];
    return NULL;
}

static bool lists_number(const struct tamis__record *record, uint64_t number)
{
    for (uint32_t i = 0; i < record->segment_count + record->spare_count; i++)
        if (record->segments[i].number == number) return true;
    return false;
}

/* The newest segment of the record that is there; NULL: none is. */
static const struct tamis__found *newest_found(const struct tamis__record *record,
                                               const struct tamis__lost_filter *filter)
{
    const struct tamis__found *found = NULL;
    for (uint32_t i = record->segment_count; i > 0 && found == NULL; i--)
        found = find_found(filter, record->segments[i - 1].number);
    return found;
}

/* Puts a segment into the record, by its age, and lets its neighbours name each other. */
static int insert(struct tamis__rescue_work *rescue, struct tamis__record *record,
                  const struct tamis__found *found)
{
    struct tamis__listed_segment *all = record->segments;
    const uint64_t number = found->entry.number;
    const uint32_t count = record->segment_count;
    uint32_t at = count;
    while (at > 0 && all[at - 1].number > number)
        at--;
    memmove(&all[at + 1], &all[at], (count + record->spare_count - at) * sizeof *all);
    all[at] = found->entry;
    record->segment_count++;
    if (at == count && *record->name != '\0') { /* it is the newest of the list in force again */
        record->generation = found->generation;
        if (record->last_generation < found->generation)
            record->last_generation = found->generation;
    }
    int rc =
        at > 0 ? tell_later(rescue, all[at - 1].number, offsetof(struct tamis__live, next), number)
               : 0;
    if (rc == 0)
        rc = tell_later(rescue, number, offsetof(struct tamis__live, next),
                        at < count ? all[at + 1].number : 0);
    return rc == 0 ? tamis__numbers_append(&rescue->taken, number) : rc;
}

/* Puts what belongs to the list of the record into it.  Returns how many segments that were. */
static int join_list(struct tamis__rescue_work *rescue, const struct tamis__lost_filter *filter,
                     struct tamis__record *record)
{
    const struct tamis__found *newest = newest_found(record, filter);
    int joined = 0, rc = 0;
    for (size_t i = 0; rc == 0 && newest != NULL && newest->list != NO_LIST && i < filter->count;
         i++) {
        const struct tamis__found *found = &filter->first[i];
        if (found->list != newest->list || lists_number(record, found->entry.number) ||
            is_left_behind(found, newest) ||
            record->segment_count + record->spare_count >= TAMIS__SEGMENTS_MAX)
            continue;
        if (found->publication > record->publication) record->publication = found->publication;
        rc = insert(rescue, record, found);
        joined++;
    }
    if (rc < 0 || joined == 0) return rc;
    tamis__record_sum_capacity(record);
    record->publication++; /* handles that are open take the list anew */
    return joined;
}

static int join_generations(struct tamis__rescue_work *rescue, struct tamis__catalog_txn *txn,
                            const struct tamis__lost_filter *filter)
{
    struct tamis__kept kept = {0};
    const uint64_t id = filter->first->filter_id;
    int rc = tamis__catalog_each_generation(txn, id, tamis__note_kept, &kept);
    for (size_t i = 0; rc >= 0 && i < kept.count; i++) {
        rc = tamis__catalog_get_generation(txn, id, kept.list[i].generation, &rescue->record);
        if (rc < 0) break;
        const uint64_t publication = rescue->record.publication; /* it says when it was in force */
        rc = join_list(rescue, filter, &rescue->record);
        rescue->record.publication = publication;
        if (rc > 0 && rescue->txn != NULL)
            rc = tamis__catalog_put_generation(rescue->txn, &rescue->record);
    }
    free(kept.list);
    return rc < 0 ? rc : 0;
}

int tamis__rescue_join(struct tamis__rescue_work *rescue, struct tamis__catalog_txn *txn,
                       const struct tamis__lost_filter *filter)
{
    struct list *lists = calloc(filter->count, sizeof *lists);
    if (lists == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory for a filter's lists");
    (void)split(rescue, filter, lists);
    free(lists);
    int rc = tamis__store_get_by_id(rescue->repair->store, txn, filter->first->filter_id,
                                    &rescue->record);
    if (rc == 0) rc = join_list(rescue, filter, &rescue->record);
    if (rc > 0 && rescue->txn != NULL) rc = tamis__catalog_put(rescue->txn, &rescue->record);
    return rc < 0 ? rc : join_generations(rescue, txn, filter);
}

int tamis__rescue_keep(struct tamis__rescue_work *rescue, struct tamis__catalog_txn *txn,
                       const struct tamis__lost_filter *filter, uint64_t number)
{
    struct tamis__record other;
    const struct tamis__found *found = find_found(filter, number), *newest = found;
    if (found->list == NO_LIST)
        return tamis__fail(
            TAMIS_EINVAL,
            "nothing was ever added to segment %" PRIu64 "; there is nothing to restore", number);
    for (size_t i = 0; i < filter->count; i++)
        if (filter->first[i].list == found->list) newest = &filter->first[i];
    int rc = tamis__catalog_get_by_id(txn, newest->filter_id, &other);
    if (rc < 0) return rc;
    rc = tamis__catalog_get_generation(txn, newest->filter_id, newest->generation, &rescue->record);
    if (rc == 0 || other.generation == newest->generation)
        return tamis__fail(TAMIS_EEXIST,
                           "filter '%s' has a generation %" PRIu64 ", and this segment is of "
                           "another one of that number; it stays in lost/",
                           other.name, newest->generation);
    if (rc != TAMIS_ENOTFOUND) return rc;
    describe_lost_filter(rescue, filter, found->list, newest);
    rescue->record.name[0] = '\0';
    rescue->record.publication = tamis__rescue_rank(newest);
    rc = tamis__catalog_put_generation(rescue->txn, &rescue->record);
    if (rc < 0) return rc;
    return tamis__repair_tell(rescue->repair, other.name, "catalog.mdb", 0,
                              "keeps generation %" PRIu64 " again: 'tamis rollback' puts it in "
                              "force",
                              newest->generation);
}
