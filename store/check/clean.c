/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clean.c: the part of a repair that has a sound catalog.  It reports files that are missing, and
 * sets counts right.  A file that is in no list is taken into one, or put aside (adopt.c).
 *
 * Garbage is left to the next writer, which removes it (txn/write.c).
 */
#include "check/adopt.h"
#include "check/lost.h"
#include "check/points.h"
#include "check/repair.h"
#include "segment/broken.h"
#include "segment/mark.h"
#include "txn/exceptions.h"
#include "txn/recover.h"
#include "txn/spares.h"

struct cleaning {
    struct tamis__repair *repair;
    struct tamis__catalog_txn *txn;
    struct tamis__numbers expected, garbage;
    struct tamis__numbers
        miscounted; /* ids of filters whose record counts more than their segments */
};

/* ---- What the catalog has -------------------------------------------------------------------- */

/* Reports a file that could not be opened, with the last error.  For a file of the list in force it
 * says what can be done for the filter of the record. */
static int tell_missing(struct cleaning *c, const char *name, const struct tamis__record *record,
                        uint64_t number, int error, bool in_force)
{
    char file[TAMIS__FILE_BYTES], reason[600], mend[TAMIS__MEND_BYTES];
    if (tamis__is_of_the_system(error)) return error;
    tamis__check_file(number, file);
    (void)snprintf(reason, sizeof reason, "%s", tamis__check_reason(file, NULL));
    if (tamis__repair_has_told_of(c->repair, file)) return 0;
    (void)snprintf(mend, sizeof mend,
                   " (of generation %" PRIu64 ", which is kept)" TAMIS__MENDS
                   "restore a copy, or wait "
                   "until newer generations have taken its place ('tamis build'); until then that "
                   "generation cannot be in force again",
                   record->generation);
    int rc = 0;
    if (in_force && number == record->exceptions)
        (void)snprintf(mend, sizeof mend, " (it has the filter's exceptions)");
    else if (in_force)
        rc = tamis__check_mend(c->repair->store, c->txn, record, mend);
    return rc < 0 ? rc : tamis__repair_tell(c->repair, name, file, error, "%s%s", reason, mend);
}

/* Has the catalog more items than the segment, of a kind that does not count down? */
static bool counts_too_many(const struct tamis__listed_segment *entry,
                            const struct tamis__segment *segment)
{
    return entry->counter_bits == 0 && tamis__segment_items(segment) < entry->items &&
           tamis__segment_check(segment) == 0;
}

static int check_index(struct cleaning *c, const char *name, const struct tamis__record *record,
                       bool in_force)
{
    struct tamis__mapped_segment index;
    const int error =
        tamis__open_index(c->repair->store, record->exceptions, record->filter_id, &index);
    if (error < 0) return tell_missing(c, name, record, record->exceptions, error, in_force);
    tamis__close_segment(&index);
    return 0;
}

static int check_files_of_list(struct cleaning *c, const char *name,
                               const struct tamis__record *record, bool in_force)
{
    int rc = tamis__numbers_append_files(&c->expected, record);
    for (uint32_t i = 0; rc == 0 && i < record->segment_count; i++) {
        struct tamis__mapped_segment s;
        const int error = tamis__open_segment(c->repair->store, record, i, false, &s);
        if (error < 0) {
            rc = tell_missing(c, name, record, record->segments[i].number, error, in_force);
            continue;
        }
        if (in_force && counts_too_many(&record->segments[i], &s.segment))
            rc = tamis__numbers_append(&c->miscounted, record->filter_id);
        tamis__close_segment(&s);
    }
    return rc == 0 && record->exceptions != 0 ? check_index(c, name, record, in_force) : rc;
}

static int note_record(void *context, const struct tamis__record *committed)
{
    struct cleaning *c = context;
    struct tamis__record now = *committed;
    tamis__record_promote(&c->repair->store->place, &now);
    return check_files_of_list(c, now.name, &now, true);
}

static int note_generation(void *context, const struct tamis__record *record)
{
    struct cleaning *c = context;
    struct tamis__record filter;
    const int rc = tamis__catalog_get_by_id(c->txn, record->filter_id, &filter);
    if (rc < 0 && rc != TAMIS_ENOTFOUND) return rc;
    return check_files_of_list(c, rc == 0 ? filter.name : "", record, false);
}

static int note_garbage(void *context, uint64_t number)
{
    struct cleaning *c = context;
    return tamis__numbers_append(&c->garbage, number);
}

static int look_at_catalog(struct cleaning *c)
{
    int rc = tamis__catalog_each(c->txn, "", note_record, c);
    if (rc == 0) rc = tamis__catalog_each_generation(c->txn, 0, note_generation, c);
    if (rc == 0) rc = tamis__catalog_each_garbage(c->txn, note_garbage, c);
    tamis__numbers_sort(&c->expected);
    tamis__numbers_sort(&c->garbage);
    return rc;
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* Reports files that cannot be read, or are no segments. */
static int tell_bad(const struct cleaning *c)
{
    int rc = 0;
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

/* The count is right again, but the keys are not back. */
static int tell_fewer(struct cleaning *c, const char *name, uint64_t keys)
{
    const int rc = tamis__repair_tell(
        c->repair, name, "catalog.mdb", TAMIS_ECORRUPT,
        "had counted %" PRIu64 " key%s of the filter more than there are; restore a copy, or add "
        "them again and run 'tamis sync --accept'",
        keys, tamis__plural(keys));
    if (rc == 0) c->repair->notes.last->of_count = true;
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
    if (told < 0) return told;
    c->repair->notes.last->of_count = true;
    return missing.keys == 0 ? 0 : tell_fewer(c, record->name, missing.keys);
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

/* Puts an orphan log aside.  A segment that cannot be read may belong to the filter of a log, so
 * then the log stays. */
static int judge_log(void *context, const struct tamis__log_finding *finding)
{
    static const char why[] = "it was of a filter that is dropped";
    struct cleaning *c = context;
    if (finding->orphan == NULL)
        return tamis__repair_tell(c->repair, finding->filter, finding->file, finding->error, "%s",
                                  finding->reason);
    if (c->repair->bad_count > 0)
        return tamis__repair_tell(c->repair, "", finding->file, TAMIS_EFOREIGN,
                                  "is of no filter of the catalog; it is left alone, as segments "
                                  "that cannot be read may be of that filter");
    const int rc =
        c->repair->dry ? 0 : tamis__lost_put(c->repair->store, "logs", finding->orphan->name, why);
    return tamis__repair_tell_aside(c->repair, "", finding->file, rc, why);
}

static int change(struct cleaning *c, struct tamis__rescue_work *rescue)
{
    rescue->repair = c->repair;
    rescue->txn = c->repair->dry ? NULL : c->txn;
    const int adopted = tamis__adopt(rescue, c->txn, &c->expected, &c->garbage);
    int rc = adopted < 0 ? adopted : tell_bad(c);
    if (rc == 0) rc = recount(c);
    if (rc == 0) rc = tamis__check_logs(c->repair->store, c->txn, 0, judge_log, c);
    if (rc < 0 || c->repair->dry) return rc;
    TAMIS__POINT(TAMIS__POINT_REPAIR_CLEANED);
    if (adopted > 0 || c->miscounted.count > 0) rc = tamis__catalog_commit(c->txn);
    if (rc == 0) tamis__rescue_tell(rescue);
    return rc;
}

int tamis__repair_clean(struct tamis__repair *repair)
{
    struct cleaning c = {.repair = repair};
    struct tamis__rescue_work *rescue = calloc(1, sizeof *rescue);
    if (rescue == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory repairing the store");
    const enum tamis__lock lock = repair->dry ? TAMIS__LOCK_SHARED : TAMIS__LOCK_EXCLUSIVE;
    int rc = tamis__catalog_begin_held(&repair->store->catalog, lock, &c.txn);
    if (rc == 0) rc = look_at_catalog(&c);
    if (rc == 0) rc = change(&c, rescue);
    tamis__catalog_end(c.txn);
    tamis__rescue_free(rescue);
    free(c.expected.list);
    free(c.garbage.list);
    free(c.miscounted.list);
    return rc;
}
