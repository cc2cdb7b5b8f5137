/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify.c: checks that a store is what its catalog says.
 *
 * A snapshot of the catalog and of the directory is taken under one shared lock, so that it shows
 * no drop or create that is half done.  Then the filters are checked, some of them under each lock.
 * A filter that was dropped meanwhile is skipped.  So writers never wait long for a check of ten
 * thousand filters.  The data of segments are read without a lock, in mappings that were made under
 * it (verify_data.c).
 */
#include "check/notes.h"
#include "exceptions/index.h"
#include "segment/broken.h"
#include "segment/live.h"
#include "txn/exceptions.h"
#include "txn/spares.h"

#define FILTERS_A_LOCK 64u /* takes a few milliseconds */
#define SEGMENTS_A_LOCK 256u

/* A segment that was opened under the lock, and whose data are read without it. */
struct opened {
    struct tamis__mapped_segment s;
    uint64_t recorded_items, filter_id;
    uint64_t generation;
    bool in_force;
    char filter[TAMIS_NAME_MAX + 1];
};

struct check {
    struct tamis_store *store;
    struct tamis__findings findings; /* not told to the caller yet */
    tamis__finding_fn *fn;
    void *context;
    struct tamis__meter meter;
    int64_t problems;
    struct tamis__numbers filters;           /* ids of the filters to be checked */
    struct tamis__numbers expected;          /* segments that the catalog has, garbage included */
    struct tamis__numbers damaged;           /* ids of filters with a problem in what is in force */
    struct tamis__numbers unsure;            /* those that the system could not look at */
    struct tamis__numbers strays;            /* segments in the directory that are not expected */
    struct tamis__store_record store_record; /* of the catalog, at the snapshot */
    struct tamis__catalog_txn *txn;          /* open while filters are checked */
    /* What is being checked: a list of a filter. */
    const struct tamis__record *filter; /* the record in force */
    const struct tamis__record *record; /* the same, or a kept generation */
    struct opened *opened;
    size_t opened_count, opened_room;
};

/* Notes a problem.  The caller is told of it when no lock is held. */
static int note_problem(struct check *check, const char *filter, const char *file, uint64_t offset,
                        int error, const char *reason)
{
    return tamis__findings_add(&check->findings, filter, file, offset, error, "%s", reason);
}

/* Tells the caller what was found, and forgets it.  The caller's function runs without any lock of
 * ours. */
static int tell_findings(struct check *check, int rc)
{
    struct tamis__finding *finding;
    while ((finding = tamis__findings_take(&check->findings)) != NULL) {
        if (rc == 0) {
            check->problems += finding->error != 0;
            rc = check->fn ? check->fn(check->context, finding) : 0;
        }
        free(finding);
    }
    return rc;
}

/* ---- One segment ----------------------------------------------------------------------------- */

#define IS_KEPT "%s (of generation %" PRIu64 ", which is kept)"

/* Notes a problem of a list.  For a kept generation the sentence says which one. */
static int tell_of(struct check *check, const char *file, uint64_t offset, int error,
                   const char *reason, bool says_mend)
{
    char longer[1100];
    int rc = 0;
    (void)snprintf(longer, sizeof longer, IS_KEPT, reason, check->record->generation);
    if (check->record == check->filter) {
        rc =
            tamis__numbers_append(tamis__is_of_the_system(error) ? &check->unsure : &check->damaged,
                                  check->filter->filter_id);
        (void)snprintf(longer, sizeof longer, "%s", reason);
    }
    if (rc == 0) rc = note_problem(check, check->filter->name, file, offset, error, longer);
    if (rc == 0) check->findings.last->says_mend = says_mend;
    return rc;
}

/* Each segment must have the filter's policy: a new catalog would be made from it. */
static int check_policy(struct check *check, const char *file, const struct tamis__segment *segment)
{
    char reason[128];
    const char *field = tamis__record_policy_contradiction(&check->record->policy, segment->header);
    if (field == NULL) return 0;
    (void)snprintf(reason, sizeof reason,
                   "contradicts the catalog in the filter's %s; restore it from a copy", field);
    return tell_of(check, file, offsetof(struct tamis__segment_header, filter_capacity),
                   TAMIS_ECORRUPT, reason, true);
}

/*
 * Checks which segment a segment names as the next one.  In an older segment a 0 is sound: the
 * maker of the next one died before it could write the number, and the next open for writing does
 * it.  In the newest segment any number that was given out is sound: it is from a list that a
 * rollback has put aside, or from the list that replaced this one.  The lock is held, so the list
 * does not change meanwhile.
 */
static int check_next(struct check *check, uint32_t index, const char *file,
                      const struct tamis__segment *segment)
{
    const struct tamis__record *record = check->record;
    const uint64_t next = tamis__segment_next(segment);
    const bool newest = index + 1 == record->segment_count;
    const char *reason;
    if (next == 0) return 0;
    if (newest && record->spare_count > 0 &&
        (next & ~TAMIS__NEXT_SPARE) == record->segments[record->segment_count].number)
        return 0;
    if (newest && next == TAMIS__NEXT_REFUSE) {
        if (record->policy.on_full == TAMIS_ON_FULL_REFUSE) return 0;
        reason = "refuses new keys, which is not its filter's policy; restore it from a copy";
    } else if (newest) {
        if ((next & ~TAMIS__NEXT_SPARE) < tamis__catalog_store(check->txn)->next_segment) return 0;
        reason = "names a next segment, but is the newest of the catalog, which is older than the "
                 "segments; 'tamis repair --rebuild' makes it anew from them";
    } else {
        /* The spare was offered and entered, and a power cut lost the second word. */
        if ((next & ~TAMIS__NEXT_SPARE) == record->segments[index + 1].number) return 0;
        reason = "names another next segment than the catalog; open the filter for writing to "
                 "write it anew";
    }
    return tell_of(check, file, offsetof(struct tamis__segment_header, live.next), TAMIS_ECORRUPT,
                   reason, true);
}

/* A catalog that was made anew may lack segments that were damaged then: their keys answer
 * absent. */
static int check_whole(struct check *check, uint32_t index, const char *file,
                       const struct tamis__segment *segment)
{
    const struct tamis__record *record = check->record;
    const struct tamis__listed_segment *s = &record->segments[index];
    bool gap = index == 0 && record->policy.slices == 0 && !segment->header->list_start;
    if (index > 0) gap = s->slice == s[-1].slice && s->step > s[-1].step + 1;
    if (!gap) return 0;
    return tell_of(check, file, offsetof(struct tamis__segment_header, step), TAMIS_ECORRUPT,
                   "is not the one after the segment before it: a part of the filter is missing, "
                   "and its keys answer absent; restore that from a copy and run 'tamis "
                   "repair', or drop the filter",
                   true);
}

static int check_label(struct check *check, const char *file, const struct tamis__segment *segment)
{
    const struct tamis__name_label *label = tamis__label_current(segment->header);
    const uint64_t offset = offsetof(struct tamis__segment_header, labels);
    if (label == NULL)
        return tell_of(check, file, offset, TAMIS_ECORRUPT,
                       "has no readable name; rename the filter to write it anew", true);
    /* An older label is from a rename that a crash cut short.  The next open for writing repairs
     * it. */
    if (label->sequence < check->filter->name_sequence ||
        strcmp(label->name, check->filter->name) == 0)
        return 0;
    return tell_of(check, file, offset, TAMIS_ECORRUPT,
                   "carries another filter's name; rename the filter to write it anew", true);
}

/* Keeps the segment open, to read its data when the lock is given back. */
static struct opened *look_later(struct check *check, const struct tamis__mapped_segment *s)
{
    struct opened *opened =
        tamis__array_add(&check->opened, &check->opened_count, &check->opened_room, sizeof *opened,
                         "checking the store");
    if (opened == NULL) return NULL;
    memset(opened, 0, sizeof *opened);
    opened->s = *s;
    opened->filter_id = check->filter->filter_id;
    opened->in_force = check->record == check->filter;
    opened->generation = check->record->generation;
    memcpy(opened->filter, check->filter->name, sizeof opened->filter);
    return opened;
}

/* Reports the last error, about a file that could not be opened. */
static int tell_unopened(struct check *check, const char *file, int error)
{
    char reason[1024];
    uint64_t offset;
    (void)snprintf(reason, sizeof reason, "%s", tamis__check_reason(file, &offset));
    return tell_of(check, file, offset, error, reason, false);
}

static int check_segment(struct check *check, uint32_t index)
{
    struct tamis__mapped_segment s;
    char file[TAMIS__FILE_BYTES];
    const struct tamis__listed_segment *entry = &check->record->segments[index];
    tamis__check_file(entry->number, file);
    int rc = tamis__open_segment(check->store, check->record, index, false, &s);
    if (rc < 0) return tell_unopened(check, file, rc);
    /* What is not in memory stays there afterwards, so it comes in the pages of the filter. */
    tamis__pages_advise(&s.segment, tamis__pages_recorded(check->record, index, &s.segment));
    rc = check_label(check, file, &s.segment);
    if (rc == 0) rc = check_policy(check, file, &s.segment);
    if (rc == 0) rc = check_next(check, index, file, &s.segment);
    if (rc == 0) rc = check_whole(check, index, file, &s.segment);
    struct opened *opened = rc == 0 ? look_later(check, &s) : NULL;
    if (opened == NULL) {
        tamis__close_segment(&s);
        return rc < 0 ? rc : TAMIS_ENOMEM;
    }
    opened->recorded_items = entry->items;
    return 0;
}

static int verify_index(struct check *check)
{
    struct tamis__mapped_segment s;
    char file[TAMIS__FILE_BYTES];
    const struct tamis__record *record = check->record;
    if (record->exceptions == 0) return 0;
    tamis__check_file(record->exceptions, file);
    int rc = tamis__open_index(check->store, record->exceptions, record->filter_id, &s);
    if (rc < 0) return tell_unopened(check, file, rc);
    struct opened *opened = look_later(check, &s);
    if (opened == NULL) {
        tamis__close_segment(&s);
        return TAMIS_ENOMEM;
    }
    opened->recorded_items = record->exception_count;
    if (tamis__index_count(&s.segment) == record->exception_count) return 0;
    return tell_of(
        check, file, s.segment.header->data_offset, TAMIS_ECORRUPT,
        "has another number of exceptions than the catalog; change one with 'tamis except' to "
        "write it anew",
        true);
}

/* ---- Data, without a lock -------------------------------------------------------------------- */

static int check_opened(struct check *check, const struct opened *opened)
{
    char file[TAMIS__FILE_BYTES];
    struct tamis__damage damage = {.offset = 0};
    tamis__check_file(opened->s.segment.header->number, file);
    const int wrong = tamis__check_data(&opened->s, opened->recorded_items, &check->meter, &damage);
    if (wrong < 0) return wrong;
    const int whole = tamis__segment_check(&opened->s.segment);
    if (whole == 0 && wrong == 0) return 0;
    const bool is_odd = whole == 0 && damage.is_odd;
    if (opened->in_force && !is_odd) {
        const int rc = tamis__numbers_append(&check->damaged, opened->filter_id);
        if (rc < 0) return rc;
    }
    const char *reason = whole < 0 ? tamis__check_reason(file, NULL) : damage.reason;
    char longer[1100];
    (void)snprintf(longer, sizeof longer, IS_KEPT, reason, opened->generation);
    const int rc = note_problem(check, opened->filter, file, whole < 0 ? 0 : damage.offset,
                                whole < 0 ? whole
                                : is_odd  ? 0
                                          : TAMIS_ECORRUPT,
                                opened->in_force ? reason : longer);
    if (rc == 0) check->findings.last->of_count = whole == 0 && damage.of_count;
    return rc;
}

/* The index of exceptions is not among the bytes that the catalog has of a filter. */
static int note_read(struct check *check, const struct tamis__segment *segment)
{
    if (segment->header->kind != TAMIS__KIND_EXCEPTIONS)
        check->meter.done_bytes += tamis__header_file_bytes(segment->header);
    return tamis__meter_tell(&check->meter, 0);
}

static int check_all_opened(struct check *check, int rc)
{
    for (size_t i = 0; i < check->opened_count; i++) {
        if (rc == 0) rc = check_opened(check, &check->opened[i]);
        if (rc == 0) rc = note_read(check, &check->opened[i].s.segment);
        tamis__close_segment(&check->opened[i].s);
    }
    check->opened_count = 0;
    return rc;
}

/* ---- Filters --------------------------------------------------------------------------------- */

static int verify_list(void *context, const struct tamis__record *record)
{
    struct check *check = context;
    int rc = 0;
    check->record = record;
    for (uint32_t i = 0; rc == 0 && i < record->segment_count; i++)
        rc = check_segment(check, i);
    return rc < 0 ? rc : verify_index(check);
}

static int check_filter(struct check *check, uint64_t filter_id)
{
    struct tamis__record record;
    int rc = tamis__store_get_by_id(check->store, check->txn, filter_id, &record);
    if (rc == TAMIS_ENOTFOUND) return 0; /* the filter was dropped since the snapshot */
    check->filter = &record;
    if (rc == 0) rc = verify_list(check, &record);
    if (rc == 0) rc = tamis__catalog_each_generation(check->txn, filter_id, verify_list, check);
    check->filter = check->record = NULL;
    return rc;
}

/* Checks the filters from `*next` on, as many as one lock allows. */
static int check_filters(struct check *check, size_t *next)
{
    const uint64_t *ids = check->filters.list;
    const size_t end = *next + FILTERS_A_LOCK;
    int rc = tamis__catalog_begin(&check->store->catalog, TAMIS__LOCK_SHARED, &check->txn);
    if (rc < 0) return rc;
    for (; rc == 0 && *next < check->filters.count && *next < end &&
           check->opened_count < SEGMENTS_A_LOCK;
         (*next)++)
        rc = check_filter(check, ids[*next]);
    tamis__catalog_end(check->txn);
    check->txn = NULL;
    return tell_findings(check, check_all_opened(check, rc));
}

static int check_all_filters(struct check *check)
{
    int rc = 0;
    for (size_t next = 0; rc == 0 && next < check->filters.count;)
        rc = check_filters(check, &next);
    return rc;
}

/* ---- The snapshot ---------------------------------------------------------------------------- */

static int note_bytes(void *context, const struct tamis__record *record)
{
    struct check *check = context;
    for (uint32_t i = 0; i < record->segment_count; i++)
        check->meter.all_bytes += record->segments[i].file_bytes;
    return 0;
}

static int note_segments(void *context, const struct tamis__record *record)
{
    struct check *check = context;
    (void)note_bytes(check, record);
    return tamis__numbers_append_files(&check->expected, record);
}

static int note_record_files(void *context, const struct tamis__record *record)
{
    struct check *check = context;
    const int rc = tamis__numbers_append(&check->filters, record->filter_id);
    return rc < 0 ? rc : note_segments(check, record);
}

static int note_garbage(void *context, uint64_t number)
{
    struct check *check = context;
    return tamis__numbers_append(&check->expected, number);
}

static int note_number(void *context, uint64_t number)
{
    struct check *check = context;
    if (tamis__numbers_have(&check->expected, number)) return 0;
    return tamis__numbers_append(&check->strays, number);
}

static int note_file(void *context, const char *name)
{
    struct check *check = context;
    char file[TAMIS__FILE_BYTES];
    const uint64_t number = tamis__segment_number(name);
    (void)snprintf(file, sizeof file, "segments/%s", name);
    if (number != 0) return note_number(check, number);
    if (tamis__is_drawer(name)) return tamis__fail_drawers(check->store->place.path);
    return note_problem(check, "", file, 0, TAMIS_EFOREIGN,
                        "is not a segment's name; remove the file");
}

/* Every filter must be found by its id too: open handles look for it by its id. */
static int check_ids(struct check *check, struct tamis__catalog_txn *txn)
{
    struct tamis__record record;
    int rc = 0;
    const uint64_t *ids = check->filters.list;
    for (size_t i = 0; ids != NULL && rc == 0 && i < check->filters.count; i++) {
        rc = tamis__store_get_by_id(check->store, txn, ids[i], &record);
        if (rc == TAMIS_ENOTFOUND)
            rc = note_problem(
                check, "", "catalog.mdb", 0, TAMIS_ECORRUPT,
                "has a filter that is not found by its id; 'tamis repair --rebuild' makes it anew");
    }
    return rc;
}

static int note_log(void *context, const struct tamis__log_finding *finding)
{
    struct check *check = context;
    const int rc =
        finding->filter_id
            ? tamis__numbers_append(tamis__is_of_the_system(finding->error) ? &check->unsure
                                                                            : &check->damaged,
                                    finding->filter_id)
            : 0;
    return rc < 0 ? rc
                  : note_problem(check, finding->filter, finding->file, 0, finding->error,
                                 finding->reason);
}

static int take_snapshot(struct check *check)
{
    struct tamis__catalog_txn *txn;
    int rc = tamis__catalog_begin(&check->store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    rc = tamis__catalog_each(txn, "", note_record_files, check);
    if (rc == 0) rc = tamis__catalog_each_generation(txn, 0, note_segments, check);
    if (rc == 0) rc = check_ids(check, txn);
    if (rc == 0) rc = tamis__catalog_each_garbage(txn, note_garbage, check);
    tamis__numbers_sort(&check->expected);
    check->store_record = *tamis__catalog_store(txn);
    if (rc == 0)
        rc = tamis__each_name(check->store->place.segments_fd, check->store->place.path, note_file,
                              check);
    if (rc == 0) rc = tamis__check_logs(check->store, txn, 0, note_log, check);
    tamis__catalog_end(txn);
    return rc;
}

/* Has a process that died before its commit left the file?  A repair puts it aside then. */
static bool is_of_dead_maker(const struct check *check, uint64_t number)
{
    const struct tamis__store_record *store = &check->store_record;
    return tamis__store_record_is_newer(store, number) &&
           tamis__segment_is_unused(&check->store->place, number, store->store_id);
}

static int tell_stray(struct check *check, uint64_t number)
{
    char file[TAMIS__FILE_BYTES];
    const bool left = is_of_dead_maker(check, number);
    return note_problem(check, "", tamis__check_file(number, file), 0, left ? 0 : TAMIS_EFOREIGN,
                        left ? "belongs to no filter of the catalog: a process that died was "
                               "making it, and nothing is in it; 'tamis repair' puts it aside"
                        : !tamis__store_record_is_newer(&check->store_record, number)
                            ? "belongs to no filter of the catalog; 'tamis repair' takes it in "
                              "again, or puts it aside"
                            : "belongs to no filter of the catalog, which may be older than it; "
                              "'tamis repair' says what can be done");
}

static int tell_strays(struct check *check)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < check->strays.count; i++)
        rc = tell_stray(check, check->strays.list[i]);
    return rc;
}

static int verify_all(struct check *check)
{
    int rc = take_snapshot(check);
    if (rc == 0) rc = tell_strays(check);
    rc = tell_findings(check, rc);
    return rc != 0 ? rc : check_all_filters(check);
}

static int check_one(struct check *check, const char *name)
{
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    int rc = tamis__check_name(name);
    if (rc == 0) rc = tamis__catalog_begin(&check->store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    rc = tamis__store_get(check->store, txn, name, &record);
    if (rc == TAMIS_ENOTFOUND) rc = tamis__fail_no_filter(check->store, name);
    if (rc == 0) rc = note_bytes(check, &record);
    if (rc == 0) rc = tamis__catalog_each_generation(txn, record.filter_id, note_bytes, check);
    if (rc == 0) rc = tamis__check_logs(check->store, txn, record.filter_id, note_log, check);
    tamis__catalog_end(txn);
    if (rc == 0) rc = tamis__numbers_append(&check->filters, record.filter_id);
    rc = tell_findings(check, rc);
    return rc != 0 ? rc : check_all_filters(check);
}

/* ---- What is remembered ---------------------------------------------------------------------- */

/* Compares the catalog with what was found: is the filter damaged?  Returns 1 if they differ; if
 * `writes`, the catalog has been corrected then. */
static int remember_one(struct check *check, struct tamis__catalog_txn *txn, uint64_t id,
                        bool writes)
{
    const bool damaged = tamis__numbers_have(&check->damaged, id);
    struct tamis__trouble trouble = {0};
    struct tamis__record record;
    if (!damaged && tamis__numbers_have(&check->unsure, id)) return 0; /* as it was known before */
    int rc = tamis__catalog_get_by_id(txn, id, &record);
    if (rc == TAMIS_ENOTFOUND) return 0; /* the filter was dropped */
    if (rc == 0) rc = tamis__catalog_get_trouble(txn, id, &trouble);
    if (rc < 0 || damaged == (trouble.damaged_since != 0)) return rc;
    trouble.damaged_since = damaged ? tamis__now_ns() : 0;
    if (writes) rc = tamis__catalog_put_trouble(txn, id, trouble);
    return rc < 0 ? rc : 1;
}

static int remember_all(struct check *check, enum tamis__lock lock)
{
    struct tamis__catalog_txn *txn;
    int changes = 0, rc = tamis__catalog_begin(&check->store->catalog, lock, &txn);
    if (rc < 0) return rc;
    for (size_t i = 0; rc >= 0 && i < check->filters.count; i++) {
        rc = remember_one(check, txn, check->filters.list[i], lock == TAMIS__LOCK_EXCLUSIVE);
        changes += rc > 0;
    }
    if (rc >= 0) rc = changes;
    if (rc > 0 && lock == TAMIS__LOCK_EXCLUSIVE) rc = tamis__catalog_commit(txn);
    tamis__catalog_end(txn);
    return rc;
}

/* Notes damage in the catalog, so that list and info show it until a verify finds the filter sound.
 * Does nothing in a store that is open read-only. */
static int remember(struct check *check)
{
    if (check->store->read_only) return 0;
    tamis__numbers_sort(&check->damaged);
    tamis__numbers_sort(&check->unsure);
    const int rc = remember_all(check, TAMIS__LOCK_SHARED);
    return rc > 0 ? remember_all(check, TAMIS__LOCK_EXCLUSIVE) : rc;
}

int64_t tamis__verify(struct tamis_store *store, const char *name,
                      const struct tamis__verifying *how)
{
    struct check check = {.store = store,
                          .fn = how->fn,
                          .context = how->context,
                          .meter = {.progress = how->progress, .context = how->context}};
    int rc = name ? check_one(&check, name) : verify_all(&check);
    if (rc == 0) rc = remember(&check);
    free(check.filters.list);
    free(check.damaged.list);
    free(check.unsure.list);
    free(check.expected.list);
    free(check.strays.list);
    free(check.opened);
    return rc != 0 ? rc : check.problems;
}
