/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * adopt.c: see adopt.h.
 *
 * Numbers are given out under the exclusive lock, and each only once.  So the catalog has known
 * every file whose number is below the next one.  A file above that number, or above a number that
 * was found taken (the store's `passed`), may belong to a newer catalog than this one, which then
 * is an older copy: the file stays.
 *
 * A segment that is sound and in no list may have been away for a moment, while the catalog was
 * made anew without it.  So it comes back into the list that it belongs to, by the rules that a
 * rescue goes by (rescue_filter.c).  It is put aside only where its filter was dropped, or has a
 * list without it.
 */
#include "check/adopt.h"

#include "check/lost.h"
#include "segment/live.h"

struct adoption {
    struct tamis__rescue_work *rescue;
    struct tamis__repair *repair;
    struct tamis__catalog_txn *txn;
    const struct tamis__numbers *in_lists, *garbage;
    int changes;
};

static bool is_stray(const struct adoption *a, const struct tamis__found *found)
{
    return !tamis__numbers_have(a->in_lists, found->entry.number) &&
           !tamis__numbers_have(a->garbage, found->entry.number);
}

static int put_aside(struct adoption *a, const struct tamis__found *found, const char *why)
{
    const uint64_t number = found->entry.number;
    char file[TAMIS__FILE_BYTES], quoted[TAMIS__QUOTED_BYTES], note[TAMIS__LOST_WHY_BYTES];
    (void)snprintf(note, sizeof note, "%s (filter %s)", why, tamis__quote(quoted, found->name));
    const int rc = a->repair->dry ? 0 : tamis__lost_put_segment(a->repair->store, number, note);
    return tamis__repair_tell_aside(a->repair, found->name, tamis__check_file(number, file), rc,
                                    why);
}

/* ---- Files that stay ------------------------------------------------------------------------- */

/* Has a newer catalog than this one given the segment its number, or its filter? */
static bool is_newer(const struct adoption *a, const struct tamis__found *found)
{
    const struct tamis__store_record *store = tamis__catalog_store(a->txn);
    return tamis__store_record_is_newer(store, found->entry.number) ||
           found->filter_id >= store->next_filter_id;
}

static int judge_newer(struct adoption *a, const struct tamis__found *found)
{
    char file[TAMIS__FILE_BYTES];
    const struct tamis__store_record *store = tamis__catalog_store(a->txn);
    if (tamis__segment_is_unused(&a->repair->store->place, found->entry.number, store->store_id))
        return put_aside(a, found, "it was being made by a process that died");
    return tamis__repair_tell(
        a->repair, found->name, tamis__check_file(found->entry.number, file), TAMIS_ECORRUPT,
        "is not in the catalog, which may be older than this segment; 'tamis repair --rebuild' "
        "makes the catalog anew from the segments; if the file is of no use, remove it");
}

/* Decides about a file that no filter of this catalog can have.  Returns 1 if it did. */
static int judge_alone(struct adoption *a, struct tamis__found *found)
{
    char file[TAMIS__FILE_BYTES];
    int rc = 0;
    found->left_out = tamis__numbers_have(a->garbage, found->entry.number);
    if (!is_stray(a, found)) return 1;
    found->left_out = true;
    if (found->store_id != tamis__catalog_store(a->txn)->store_id)
        rc = tamis__repair_tell(a->repair, "", tamis__check_file(found->entry.number, file),
                                TAMIS_EFOREIGN,
                                "belongs to another store; it is left alone, move it there");
    else if (is_newer(a, found))
        rc = judge_newer(a, found);
    else
        found->left_out = false;
    return rc < 0 ? rc : found->left_out;
}

/* ---- Files that come back -------------------------------------------------------------------- */

/* Enters the segments of a filter into its lists; or the filter, if the catalog does not have it.
 */
static int take_in(struct adoption *a, struct tamis__lost_filter *filter, bool is_known)
{
    struct tamis__rescue_work *rescue = a->rescue;
    if (is_known) return tamis__rescue_join(rescue, a->txn, filter);
    const int rc = tamis__rescue_find_name(a->txn, filter);
    return rc < 0 ? rc : tamis__rescue_filter(rescue, filter);
}

static int tell_taken(struct adoption *a, const struct tamis__found *found)
{
    char file[TAMIS__FILE_BYTES];
    const struct tamis__place *place = &a->repair->store->place;
    a->changes++;
    if (!a->repair->dry) (void)tamis__segment_raise_epoch(place, found->entry.number);
    return tamis__repair_tell(a->repair, found->name, tamis__check_file(found->entry.number, file),
                              0, "%s taken into its filter again: %" PRIu64 " item%s",
                              a->repair->dry ? "would be" : "is", found->entry.items,
                              tamis__plural(found->entry.items));
}

/* A segment that was made ahead, and to which nobody ever wrote, is garbage, as after any change.
 */
static int forget_spare(struct adoption *a, const struct tamis__found *found)
{
    char file[TAMIS__FILE_BYTES];
    const int rc = a->repair->dry ? 0 : tamis__catalog_put_garbage(a->txn, found->entry.number);
    a->changes++;
    return rc < 0 ? rc
                  : tamis__repair_tell(a->repair, found->name,
                                       tamis__check_file(found->entry.number, file), 0,
                                       "%s garbage, which the next writer removes: it was made "
                                       "ahead, and nothing was ever added to it",
                                       a->repair->dry ? "would be" : "is");
}

/* What a filter had in force when: a stray that is later may belong to a newer catalog. */
struct last_known {
    uint64_t list, publication; /* of the list in force; of the record, exceptions too */
};

/* If no segment of the list in force is there, the record says when that list came. */
static struct last_known last_known_of(const struct tamis__record *record,
                                       const struct tamis__lost_filter *filter)
{
    struct last_known known = {.list = 0, .publication = record->publication};
    for (size_t i = 0; i < filter->count; i++)
        for (uint32_t j = 0; j < record->segment_count; j++)
            if (filter->first[i].entry.number == record->segments[j].number &&
                tamis__rescue_rank(&filter->first[i]) > known.list)
                known.list = tamis__rescue_rank(&filter->first[i]);
    if (known.list == 0) known.list = record->publication;
    return known;
}

static bool is_later(const struct tamis__found *found, struct last_known known)
{
    if (found->entry.kind == TAMIS__KIND_EXCEPTIONS) return found->publication > known.publication;
    return found->publication > known.list || tamis__rescue_rank(found) > known.list;
}

/* Decides about what is left of a filter's files. */
static int judge_rest(struct adoption *a, const struct tamis__lost_filter *filter,
                      struct last_known known, const char *why)
{
    struct tamis__numbers *taken = &a->rescue->taken;
    int rc = 0;
    tamis__numbers_sort(taken);
    for (size_t i = 0; rc == 0 && i < filter->count; i++) {
        const struct tamis__found *found = &filter->first[i];
        if (found->left_out || !is_stray(a, found)) continue;
        rc = tamis__numbers_have(taken, found->entry.number) ? tell_taken(a, found)
             : found->is_blank_spare                         ? forget_spare(a, found)
             : is_later(found, known)                        ? judge_newer(a, found)
                                                             : put_aside(a, found, why);
    }
    return rc;
}

/* Handles that have the lists open look at the catalog, and wait for the lock. */
static void raise_epochs(const struct adoption *a, const struct tamis__lost_filter *filter)
{
    for (size_t i = 0; !a->repair->dry && i < filter->count; i++)
        if (!filter->first[i].left_out)
            (void)tamis__segment_raise_epoch(&a->repair->store->place,
                                             filter->first[i].entry.number);
}

static int judge_filter(struct adoption *a, struct tamis__found *first)
{
    struct tamis__lost_filter filter;
    tamis__rescue_describe(a->rescue, first, &filter);
    int rc = tamis__catalog_get_by_id(a->txn, first->filter_id, &a->rescue->record);
    if (rc < 0 && rc != TAMIS_ENOTFOUND) return rc;
    const bool is_known = rc == 0;
    const bool dropped = !is_known && tamis__rescue_is_dropped(a->rescue, &filter);
    const struct last_known known = is_known ? last_known_of(&a->rescue->record, &filter)
                                             : (struct last_known){UINT64_MAX, UINT64_MAX};
    a->rescue->taken.count = 0;
    if (dropped) return judge_rest(a, &filter, known, "it was of a filter that is dropped");
    rc = take_in(a, &filter, is_known);
    if (rc == 0) rc = judge_rest(a, &filter, known, "its filter has another list by now");
    if (rc == 0 && a->rescue->taken.count > 0) raise_epochs(a, &filter);
    return rc;
}

int tamis__adopt(struct tamis__rescue_work *rescue, struct tamis__catalog_txn *txn,
                 const struct tamis__numbers *in_lists, const struct tamis__numbers *garbage)
{
    struct tamis__repair *repair = rescue->repair;
    struct adoption a = {
        .rescue = rescue, .repair = repair, .txn = txn, .in_lists = in_lists, .garbage = garbage};
    rescue->store = *tamis__catalog_store(txn);
    for (size_t i = 0, end; i < repair->found_count; i = end) {
        struct tamis__found *first = NULL; /* segment that a filter of this catalog may have */
        for (end = i; end < repair->found_count &&
                      repair->found[end].filter_id == repair->found[i].filter_id;
             end++) {
            const int rc = judge_alone(&a, &repair->found[end]);
            if (rc < 0) return rc;
            if (rc == 0 && first == NULL) first = &repair->found[i];
        }
        while (first != NULL && first->store_id != rescue->store.store_id)
            first++; /* one of ours follows */
        const int rc = first == NULL ? 0 : judge_filter(&a, first);
        if (rc < 0) return rc;
    }
    return a.changes;
}
