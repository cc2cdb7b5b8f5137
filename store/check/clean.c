/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clean.c: the part of a repair that has a sound catalog: it reports missing files, and removes
 * files that nobody needs.
 *
 * Numbers are given out under the exclusive lock, and each only once.  So the catalog has known
 * every file whose number is below the next one.  If no list has the file any more, its filter was
 * dropped or the file was replaced: the file is removed.  A file above that number, or above a
 * number that was found taken (the store's `passed`), may belong to a newer catalog than this one,
 * which then is an older copy: the file stays.  All files that cannot be read stay too.  A process
 * that has a file open keeps its mapping.
 */
#include "check/points.h"
#include "check/repair.h"
#include "segment/mark.h"
#include "txn/exceptions.h"
#include "txn/recover.h"
#include "txn/spares.h"

struct known {
    uint64_t filter_id, publication;
};

struct lost {
    uint64_t filter_id, generation;
};

struct cleaning {
    struct tamis__repair *repair;
    struct tamis__catalog_txn *txn;
    struct known *known; /* filters, by id */
    size_t known_count, known_room;
    struct lost *lost; /* kept generations without all of their files */
    size_t lost_count, lost_room;
    struct tamis__numbers expected, garbage;
    bool any_unlinked;
    struct tamis__numbers
        miscounted; /* ids of filters whose record counts more than their segments */
};

/* ---- What the catalog has -------------------------------------------------------------------- */

/* Reports a file that could not be opened, with the last error.  `mend` NULL: says what can be done
 * for the filter of the record.  Returns 1 if there is no such file. */
static int tell_missing(struct cleaning *c, const char *name, const struct tamis__record *record,
                        uint64_t number, int error, const char *mend)
{
    char file[TAMIS__FILE_BYTES], reason[600], found[TAMIS__MEND_BYTES];
    tamis__check_file(number, file);
    (void)snprintf(reason, sizeof reason, "%s", tamis__check_reason(file, NULL));
    if (mend == NULL) {
        const int rc = tamis__check_mend(c->repair->store, c->txn, record, found);
        if (rc < 0) return rc;
        mend = found;
    }
    const int rc = tamis__repair_tell(c->repair, name, file, error, "%s%s", reason, mend);
    return rc < 0 ? rc : tamis__segment_exists(&c->repair->store->place, number) == 0;
}

/* A kept generation that lacks a file is given up (forget_lost(), which tells of it too).
 * Returns 1. */
static int tell_given_up(struct cleaning *c, const char *name, const struct tamis__record *record,
                         uint64_t number)
{
    char file[TAMIS__FILE_BYTES];
    const int rc = tamis__repair_tell(
        c->repair, name, tamis__check_file(number, file), 0,
        "is missing, so generation %llu, which is kept, cannot be in force again",
        (unsigned long long)record->generation);
    return rc < 0 ? rc : 1;
}

static bool is_given_up(const struct cleaning *c, uint64_t number, bool in_force)
{
    return !in_force && tamis__segment_exists(&c->repair->store->place, number) == 0;
}

/* Has the catalog more items than the segment, of a kind that does not count down? */
static bool counts_too_many(const struct tamis__listed_segment *entry,
                            const struct tamis__segment *segment)
{
    return entry->counter_bits == 0 && tamis__segment_items(segment) < entry->items &&
           tamis__segment_check(segment) == 0;
}

/* Checks the exceptions of a list.  Returns 1 if their file is missing: nothing else has them. */
static int check_index(struct cleaning *c, const char *name, const struct tamis__record *record,
                       bool in_force)
{
    struct tamis__mapped_segment index;
    const int error =
        tamis__open_index(c->repair->store, record->exceptions, record->filter_id, &index);
    if (error < 0 && is_given_up(c, record->exceptions, in_force))
        return tell_given_up(c, name, record, record->exceptions);
    if (error < 0)
        return tell_missing(
            c, name, record, record->exceptions, error,
            in_force ? " (it has the filter's exceptions)"
                     : " (the exceptions of a generation that is kept, and not in force)");
    tamis__close_segment(&index);
    return 0;
}

/* Checks the files of a list.  Returns 1 if one is missing. */
static int check_files_of_list(struct cleaning *c, const char *name,
                               const struct tamis__record *record, bool in_force)
{
    const char *mend = in_force ? NULL : " (a generation that is kept, and not in force)";
    int rc = tamis__numbers_append_files(&c->expected, record);
    bool missing = false;
    for (uint32_t i = 0; rc >= 0 && i < record->segment_count; i++) {
        struct tamis__mapped_segment s;
        const int error = tamis__open_segment(c->repair->store, record, i, false, &s);
        if (error < 0) {
            const uint64_t number = record->segments[i].number;
            rc = is_given_up(c, number, in_force)
                     ? tell_given_up(c, name, record, number)
                     : tell_missing(c, name, record, number, error, mend);
            missing = missing || rc > 0;
            continue;
        }
        if (in_force && counts_too_many(&record->segments[i], &s.segment))
            rc = tamis__numbers_append(&c->miscounted, record->filter_id);
        tamis__close_segment(&s);
    }
    if (rc >= 0 && record->exceptions != 0) rc = check_index(c, name, record, in_force);
    return rc < 0 ? rc : missing || rc > 0;
}

static int note_record(void *context, const struct tamis__record *committed)
{
    struct cleaning *c = context;
    struct tamis__record now = *committed;
    const struct tamis__record *record = &now;
    tamis__record_promote(&c->repair->store->place, &now);
    struct known *known = tamis__array_add(&c->known, &c->known_count, &c->known_room,
                                           sizeof *known, "checking the store");
    if (known == NULL) return TAMIS_ENOMEM;
    *known = (struct known){record->filter_id, record->publication};
    const int rc = check_files_of_list(c, record->name, record, true);
    return rc < 0 ? rc : 0;
}

static int note_generation(void *context, const struct tamis__record *record)
{
    struct cleaning *c = context;
    struct tamis__record filter;
    int rc = tamis__catalog_get_by_id(c->txn, record->filter_id, &filter);
    if (rc < 0 && rc != TAMIS_ENOTFOUND) return rc;
    rc = check_files_of_list(c, rc == 0 ? filter.name : "", record, false);
    if (rc <= 0) return rc;
    struct lost *lost = tamis__array_add(&c->lost, &c->lost_count, &c->lost_room, sizeof *lost,
                                         "checking the store");
    if (lost == NULL) return TAMIS_ENOMEM;
    *lost = (struct lost){record->filter_id, record->generation};
    return 0;
}

static int note_garbage(void *context, uint64_t number)
{
    struct cleaning *c = context;
    return tamis__numbers_append(&c->garbage, number);
}

static int by_id(const void *a, const void *b)
{
    const struct known *x = a, *y = b;
    return (x->filter_id > y->filter_id) - (x->filter_id < y->filter_id);
}

static int look_at_catalog(struct cleaning *c)
{
    int rc = tamis__catalog_each(c->txn, "", note_record, c);
    if (rc == 0) rc = tamis__catalog_each_generation(c->txn, 0, note_generation, c);
    if (rc == 0) rc = tamis__catalog_each_garbage(c->txn, note_garbage, c);
    tamis__numbers_sort(&c->expected);
    tamis__numbers_sort(&c->garbage);
    if (c->known_count > 0) qsort(c->known, c->known_count, sizeof *c->known, by_id);
    return rc;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static int remove_segment(struct cleaning *c, uint64_t number, const char *why)
{
    char file[TAMIS__FILE_BYTES];
    tamis__check_file(number, file);
    const struct tamis__place *place = &c->repair->store->place;
    const int rc = c->repair->dry ? 0 : tamis__segment_remove(place, number);
    c->any_unlinked = c->any_unlinked || rc == 0;
    return tamis__repair_tell_removed(c->repair, file, rc, why);
}

static int tell_newer(const struct cleaning *c, const struct tamis__found *found, const char *file)
{
    return tamis__repair_tell(
        c->repair, found->name, file, TAMIS_ECORRUPT,
        "is not in the catalog, which may be older than this segment; 'tamis repair --rebuild' "
        "makes the catalog anew from the segments; if the file is of no use, remove it");
}

/* Decides about a file that is in no list. */
static int judge_stray(struct cleaning *c, const struct tamis__found *found)
{
    char file[TAMIS__FILE_BYTES];
    const struct tamis__store_record *store = tamis__catalog_store(c->txn);
    const uint64_t number = found->entry.number;
    const struct known key = {.filter_id = found->filter_id};
    const struct known *known =
        c->known_count == 0 ? NULL : bsearch(&key, c->known, c->known_count, sizeof key, by_id);
    tamis__check_file(number, file);
    if (found->store_id != store->store_id)
        return tamis__repair_tell(c->repair, "", file, TAMIS_EFOREIGN,
                                  "belongs to another store; it is left alone, move it there");
    if (tamis__store_record_is_newer(store, number) || found->filter_id >= store->next_filter_id ||
        (known != NULL && found->publication > known->publication)) {
        if (!tamis__segment_is_unused(&c->repair->store->place, number, store->store_id))
            return tell_newer(c, found, file);
        return remove_segment(c, number, "it was being made by a process that died");
    }
    return remove_segment(c, number,
                          known ? "it was replaced" : "it was of a filter that is dropped");
}

static int judge_strays(struct cleaning *c)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < c->repair->found_count; i++) {
        const uint64_t number = c->repair->found[i].entry.number;
        if (tamis__numbers_have(&c->expected, number) || tamis__numbers_have(&c->garbage, number))
            continue;
        rc = judge_stray(c, &c->repair->found[i]);
    }
    for (size_t i = 0; rc == 0 && i < c->repair->bad_count; i++) {
        const struct tamis__bad *bad = &c->repair->bad[i];
        if (bad->number != 0 && (tamis__numbers_have(&c->expected, bad->number) ||
                                 tamis__numbers_have(&c->garbage, bad->number)))
            continue;
        rc = tamis__repair_tell(c->repair, "", bad->file, bad->error,
                                "%s; it is in no list of the catalog, and left alone", bad->reason);
    }
    return rc;
}

/* ---- What changes ---------------------------------------------------------------------------- */

static int remove_garbage(struct cleaning *c)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < c->garbage.count; i++) {
        rc = tamis__segment_exists(&c->repair->store->place, c->garbage.list[i]);
        if (rc > 0) rc = remove_segment(c, c->garbage.list[i], "the catalog has it as garbage");
    }
    return rc;
}

/* A kept generation that is not whole can never be in force again. */
static int forget_lost(struct cleaning *c)
{
    struct tamis__numbers files = {0};
    struct tamis__record record;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < c->lost_count; i++) {
        const struct lost *lost = &c->lost[i];
        rc = tamis__catalog_get_generation(c->txn, lost->filter_id, lost->generation, &record);
        if (rc == 0 && !c->repair->dry) rc = tamis__generation_forget(c->txn, &record, &files);
        if (rc == 0)
            rc = tamis__repair_tell(c->repair, "", "catalog.mdb", 0,
                                    "generation %llu of filter %llu %s no longer kept: files of it "
                                    "are missing",
                                    (unsigned long long)lost->generation,
                                    (unsigned long long)lost->filter_id,
                                    c->repair->dry ? "would be" : "is");
    }
    for (size_t i = 0; rc == 0 && i < files.count; i++)
        rc = tamis__numbers_append(&c->garbage, files.list[i]);
    free(files.list);
    return rc;
}

/* Takes the count of a segment that has fewer items than its entry, and says so of its file, which
 * is the one that verify names.  If keys are gone, the filter is unclean from now on. */
static int recount_segment(struct cleaning *c, const struct tamis__record *record,
                           struct tamis__listed_segment *entry,
                           const struct tamis__segment *segment)
{
    char file[TAMIS__FILE_BYTES];
    const uint64_t items = tamis__segment_items(segment), knew = entry->items;
    const struct tamis__missing missing = {
        .filter_id = record->filter_id,
        .segment = entry->number,
        .since = tamis__clean_until_of(segment->live, entry->created_at),
        /* The logs of a durable filter bring them back, when it is opened for writing. */
        .keys = record->policy.durable && tamis__mark_is_stale(segment->live)
                    ? 0
                    : tamis__missing_items(entry, segment)};
    const int rc = missing.keys == 0 || c->repair->dry
                       ? 0
                       : tamis__note_missing(c->repair->store, c->txn, &missing);
    entry->items = items;
    if (rc < 0) return rc;
    const int told = tamis__repair_tell(
        c->repair, record->name, tamis__check_file(entry->number, file), 0,
        "has counted %" PRIu64 " items, and the catalog knew of %" PRIu64 "; the catalog %s as "
        "the segment does%s",
        items, knew, c->repair->dry ? "would count" : "counts",
        missing.keys == 0 ? ""
        : c->repair->dry  ? ", and the filter would be unclean until 'tamis sync --accept', as "
                            "keys are gone"
                          : ", and the filter is unclean until 'tamis sync --accept', as keys are "
                            "gone");
    if (told == 0) c->repair->notes.last->of_count = true;
    return told;
}

/* Takes the counts of the segments into the catalog, where they are fewer. */
static int recount_filter(struct cleaning *c, uint64_t filter_id)
{
    struct tamis__record record;
    int rc = tamis__store_get_by_id(c->repair->store, c->txn, filter_id, &record);
    for (uint32_t i = 0; rc == 0 && i < record.segment_count; i++) {
        struct tamis__mapped_segment s;
        if (tamis__open_segment(c->repair->store, &record, i, false, &s) < 0) continue;
        if (counts_too_many(&record.segments[i], &s.segment))
            rc = recount_segment(c, &record, &record.segments[i], &s.segment);
        tamis__close_segment(&s);
    }
    return rc < 0 || c->repair->dry ? rc : tamis__catalog_put(c->txn, &record);
}

static int recount(struct cleaning *c)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < c->miscounted.count; i++)
        if (i == 0 || c->miscounted.list[i] != c->miscounted.list[i - 1])
            rc = recount_filter(c, c->miscounted.list[i]);
    return rc;
}

/* Removes an orphan log.  A segment that cannot be read may belong to the filter of a log, so then
 * the log stays. */
static int judge_log(void *context, const struct tamis__log_finding *finding)
{
    struct cleaning *c = context;
    if (finding->orphan == NULL)
        return tamis__repair_tell(c->repair, finding->filter, finding->file, finding->error, "%s",
                                  finding->reason);
    if (c->repair->bad_count > 0)
        return tamis__repair_tell(c->repair, "", finding->file, TAMIS_EFOREIGN,
                                  "is of no filter of the catalog; it is left alone, as segments "
                                  "that cannot be read may be of that filter");
    const struct tamis__logs logs = tamis__store_logs(c->repair->store);
    const int rc = c->repair->dry ? 0 : tamis__log_unlink(&logs, finding->orphan);
    return tamis__repair_tell_removed(c->repair, finding->file, rc,
                                      "it was of a filter that is dropped");
}

static int finish_cleaning(struct cleaning *c)
{
    const struct tamis__place *place = &c->repair->store->place;
    /* The removal is synced before the numbers are forgotten: otherwise a power cut could bring a
     * file back that nothing notes. */
    int rc = c->any_unlinked ? tamis__segments_sync_names(place) : 0;
    TAMIS__POINT(TAMIS__POINT_REPAIR_CLEANED);
    for (size_t i = 0; rc == 0 && i < c->garbage.count; i++) {
        rc = tamis__segment_exists(place, c->garbage.list[i]);
        if (rc == 0) rc = tamis__catalog_forget_garbage(c->txn, c->garbage.list[i]);
        if (rc > 0) rc = 0; /* it is left to the next writer */
    }
    if (rc == 0 && c->garbage.count + c->lost_count + c->miscounted.count > 0)
        rc = tamis__catalog_commit(c->txn);
    return rc;
}

int tamis__repair_clean(struct tamis__repair *repair)
{
    struct cleaning c = {.repair = repair};
    const enum tamis__lock lock = repair->dry ? TAMIS__LOCK_SHARED : TAMIS__LOCK_EXCLUSIVE;
    int rc = tamis__catalog_begin_held(&repair->store->catalog, lock, &c.txn);
    if (rc < 0) return rc;
    rc = look_at_catalog(&c);
    if (rc == 0) rc = judge_strays(&c);
    if (rc == 0) rc = forget_lost(&c);
    if (rc == 0) rc = remove_garbage(&c);
    if (rc == 0) rc = recount(&c);
    if (rc == 0) rc = tamis__check_logs(repair->store, c.txn, 0, judge_log, &c);
    if (rc == 0 && !repair->dry) rc = finish_cleaning(&c);
    tamis__catalog_end(c.txn);
    free(c.known);
    free(c.lost);
    free(c.expected.list);
    free(c.garbage.list);
    free(c.miscounted.list);
    return rc;
}
