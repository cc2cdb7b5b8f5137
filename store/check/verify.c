/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify.c: is the store what it says it is?
 *
 * A snapshot of the catalog and of the directory is taken under one shared lock, so that no drop or
 * create stands half done in it.  Then the filters are looked at, some under each lock, and
 * skipped if they went meanwhile: writers never wait long for a check of ten thousand filters.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "store.h"

#define FILTERS_A_LOCK 64u /* a few milliseconds */

struct numbers {
    uint64_t *list;
    size_t count, room;
};

struct finding {
    struct finding *next;
    uint64_t offset;
    int error;
    char filter[TAMIS_NAME_MAX + 1], file[300], reason[1024];
};

struct check {
    struct tamis_store *store;
    struct finding *findings, **end; /* not yet told */
    tamis_problem_fn *fn;
    void *context;
    int64_t problems;
    struct numbers filters;  /* ids of the filters to look at */
    struct numbers expected; /* segments that the catalog has, garbage included */
    struct numbers strays;   /* segments that are there and not expected */
};

static int append(struct numbers *numbers, uint64_t number)
{
    if (numbers->count == numbers->room) {
        const size_t room = numbers->room ? 2 * numbers->room : 256;
        uint64_t *list = reallocarray(numbers->list, room, sizeof *list);
        if (list == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory checking the store");
        numbers->list = list;
        numbers->room = room;
    }
    numbers->list[numbers->count++] = number;
    return 0;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Note a problem; it is told when no lock is held. */
static int tell(struct check *check, const char *filter, const char *file, uint64_t offset,
                int error, const char *reason)
{
    struct finding *finding = calloc(1, sizeof *finding);
    if (finding == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory checking the store");
    finding->offset = offset;
    finding->error = error;
    (void)snprintf(finding->filter, sizeof finding->filter, "%s", filter);
    (void)snprintf(finding->file, sizeof finding->file, "%s", file);
    (void)snprintf(finding->reason, sizeof finding->reason, "%s", reason);
    *check->end = finding;
    check->end = &finding->next;
    return 0;
}

/* Tell what was found and forget it; the user's function runs without any lock of ours. */
static int tell_findings(struct check *check, int rc)
{
    struct finding *next;
    for (struct finding *finding = check->findings; finding != NULL; finding = next) {
        const struct tamis_problem problem = {.filter = finding->filter,
                                              .file = finding->file,
                                              .offset = finding->offset,
                                              .error = finding->error,
                                              .reason = finding->reason};
        if (rc == 0) {
            check->problems++;
            rc = check->fn ? check->fn(check->context, &problem) : 0;
        }
        next = finding->next;
        free(finding);
    }
    check->findings = NULL;
    check->end = &check->findings;
    return rc;
}

/* ---- One segment ----------------------------------------------------------------------------- */

/* Bits past m, which no position reaches, are zero; a byte there is damage. */
static int check_padding(struct check *check, const struct tamis__record *record, const char *file,
                         const struct tamis__segment *segment)
{
    const struct tamis__segment_header *h = segment->header;
    const uint64_t last = (h->m_bits - 1) / 64;
    if (h->counter_bits != 0) return 0; /* m is a multiple of 512 */
    if (!tamis__bits_past(segment->data[last], h->m_bits, h->bit_order)) return 0;
    return tell(check, record->name, file, h->data_offset + last * 8, TAMIS_ECORRUPT,
                "has bits set past its m; the data is damaged, restore it from a copy");
}

/* All segments of a filter say how its list goes on, for rebuilding a catalog. */
static int check_policy(struct check *check, const struct tamis__record *record, const char *file,
                        const struct tamis__segment *segment)
{
    char reason[128];
    const char *field = tamis__record_policy_contradiction(&record->policy, segment->header);
    if (field == NULL) return 0;
    (void)snprintf(reason, sizeof reason,
                   "contradicts the catalog in its %s; restore it from a copy", field);
    return tell(check, record->name, file, offsetof(struct tamis__segment_header, filter_capacity),
                TAMIS_ECORRUPT, reason);
}

/*
 * Which segment goes on after it.  Of an older one a 0 is sound: the one who made the next died
 * before it could say so, and who opens the filter for writing says it.  The lock is held, so the
 * list does not change meanwhile.
 */
static int check_next(struct check *check, const struct tamis__record *record, uint32_t index,
                      const char *file, const struct tamis__segment *segment)
{
    const uint64_t next = tamis__segment_next(segment);
    const bool newest = index + 1 == record->segment_count;
    const char *reason;
    if (next == 0) return 0;
    if (newest && next == TAMIS__NEXT_REFUSE) {
        if (record->policy.on_full == TAMIS_ON_FULL_REFUSE) return 0;
        reason = "refuses new keys, which is not its filter's policy; restore it from a copy";
    } else if (newest) {
        reason = "names a next segment, but is the newest of the catalog; if that is older than "
                 "the segments, restore both from one copy";
    } else {
        if (next == record->segments[index + 1].number) return 0;
        reason = "names another next segment than the catalog; open the filter for writing to "
                 "write it anew";
    }
    return tell(check, record->name, file, offsetof(struct tamis__segment_header, next),
                TAMIS_ECORRUPT, reason);
}

/* Items without a bit: the data was zeroed.  Ends at the first bit, so reads much of no sound file.
 */
static int check_any_bit(struct check *check, const struct tamis__record *record, const char *file,
                         const struct tamis__segment *segment)
{
    if (tamis__segment_items(segment) == 0 || !tamis__segment_is_blank(segment)) return 0;
    return tell(check, record->name, file, segment->header->data_offset, TAMIS_ECORRUPT,
                "has counted items but not one bit set; the data is lost, restore it from a copy");
}

static int check_label(struct check *check, const struct tamis__record *record, const char *file,
                       const struct tamis__segment *segment)
{
    const struct tamis__name_label *label = tamis__label_current(segment->header);
    const uint64_t offset = offsetof(struct tamis__segment_header, labels);
    if (label == NULL)
        return tell(check, record->name, file, offset, TAMIS_ECORRUPT,
                    "has no readable name; rename the filter to write it anew");
    /* An older label is a rename that a crash cut short; the next open for writing mends it. */
    if (label->sequence < record->name_sequence || strcmp(label->name, record->name) == 0) return 0;
    return tell(check, record->name, file, offset, TAMIS_ECORRUPT,
                "carries another filter's name; rename the filter to write it anew");
}

/* What only the kind knows: counters and their overflow. */
static int check_kind(struct check *check, const struct tamis__record *record, const char *file,
                      const struct tamis__store_segment *s)
{
    const char *reason = NULL;
    uint64_t offset = 0;
    if (s->kind->verify == NULL || !s->kind->verify(&s->segment, &offset, &reason)) return 0;
    return tell(check, record->name, file, offset, TAMIS_ECORRUPT, reason);
}

static int check_segment(struct check *check, const struct tamis__record *record, uint32_t index)
{
    struct tamis__store_segment s;
    char name[TAMIS__SEGMENT_NAME_BYTES], file[TAMIS__SEGMENT_NAME_BYTES + 16];
    tamis__segment_name(record->segments[index].number, name);
    (void)snprintf(file, sizeof file, "segments/%s", name);
    int rc = tamis__open_segment(check->store, record, index, false, &s);
    if (rc < 0) {
        unsigned long long offset = 0;
        const char *at = strstr(tamis_last_error(), "(at byte ");
        const char *reason = strstr(tamis_last_error(), file); /* the caller says the file itself */
        if (at != NULL) (void)sscanf(at, "(at byte %llu)", &offset);
        reason = reason ? reason + strlen(file) + strspn(reason + strlen(file), ": ")
                        : tamis_last_error();
        return tell(check, record->name, file, offset, rc, reason);
    }
    rc = check_label(check, record, file, &s.segment);
    if (rc == 0) rc = check_policy(check, record, file, &s.segment);
    if (rc == 0) rc = check_next(check, record, index, file, &s.segment);
    if (rc == 0) rc = check_padding(check, record, file, &s.segment);
    if (rc == 0) rc = check_any_bit(check, record, file, &s.segment);
    if (rc == 0) rc = check_kind(check, record, file, &s);
    tamis__close_segment(&s);
    return rc;
}

/* Look at the filters `first` .. `end` - 1 of the list under one lock. */
static int check_filters(struct check *check, size_t first, size_t end)
{
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    int rc = tamis__catalog_begin(&check->store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    const uint64_t *ids = check->filters.list;
    for (size_t f = first; ids != NULL && rc == 0 && f < end; f++) {
        rc = tamis__catalog_get_by_id(txn, ids[f], &record);
        for (uint32_t i = 0; rc == 0 && i < record.segment_count; i++)
            rc = check_segment(check, &record, i);
        if (rc == TAMIS_ENOTFOUND) rc = 0; /* dropped since the snapshot */
    }
    tamis__catalog_end(txn);
    return tell_findings(check, rc);
}

/* ---- The snapshot ---------------------------------------------------------------------------- */

static int note_segments(void *context, const struct tamis__record *record)
{
    struct check *check = context;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < record->segment_count; i++)
        rc = append(&check->expected, record->segments[i].number);
    return rc;
}

static int note_record(void *context, const struct tamis__record *record)
{
    struct check *check = context;
    int rc = append(&check->filters, record->filter_id);
    if (rc == 0 && record->exceptions != 0) rc = append(&check->expected, record->exceptions);
    return rc < 0 ? rc : note_segments(check, record);
}

static int note_garbage(void *context, uint64_t number)
{
    struct check *check = context;
    return append(&check->expected, number);
}

static int note_file(void *context, const char *name)
{
    struct check *check = context;
    const uint64_t number = tamis__segment_number(name);
    if (number == 0) {
        char file[300];
        (void)snprintf(file, sizeof file, "segments/%s", name);
        return tell(check, "", file, 0, TAMIS_EFOREIGN, "is not a segment's name; remove the file");
    }
    if (bsearch(&number, check->expected.list, check->expected.count, sizeof number, by_number))
        return 0;
    return append(&check->strays, number);
}

/* Every filter must be found by its id too: that is how open handles look for it. */
static int check_ids(struct check *check, struct tamis__catalog_txn *txn)
{
    struct tamis__record record;
    int rc = 0;
    const uint64_t *ids = check->filters.list;
    for (size_t i = 0; ids != NULL && rc == 0 && i < check->filters.count; i++) {
        rc = tamis__catalog_get_by_id(txn, ids[i], &record);
        if (rc == TAMIS_ENOTFOUND)
            rc = tell(check, "", "catalog.mdb", 0, TAMIS_ECORRUPT,
                      "has a filter that is not found by its id; restore the catalog from a copy");
    }
    return rc;
}

static int take_snapshot(struct check *check)
{
    struct tamis__catalog_txn *txn;
    int rc = tamis__catalog_begin(&check->store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    rc = tamis__catalog_each(txn, "", note_record, check);
    if (rc == 0) rc = tamis__catalog_each_generation(txn, 0, note_segments, check);
    if (rc == 0) rc = check_ids(check, txn);
    if (rc == 0) rc = tamis__catalog_each_garbage(txn, note_garbage, check);
    if (rc == 0 && check->expected.count > 0)
        qsort(check->expected.list, check->expected.count, sizeof(uint64_t), by_number);
    if (rc == 0)
        rc = tamis__each_name(check->store->place.segments_fd, check->store->place.path, note_file,
                              check);
    tamis__catalog_end(txn);
    return rc;
}

static int tell_strays(struct check *check)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < check->strays.count; i++) {
        char name[TAMIS__SEGMENT_NAME_BYTES], file[TAMIS__SEGMENT_NAME_BYTES + 16];
        tamis__segment_name(check->strays.list[i], name);
        (void)snprintf(file, sizeof file, "segments/%s", name);
        rc =
            tell(check, "", file, 0, TAMIS_EFOREIGN,
                 "belongs to no filter of the catalog; remove it if it is not from a lost catalog");
    }
    return rc;
}

static int check_all(struct check *check)
{
    int rc = take_snapshot(check);
    if (rc == 0) rc = tell_strays(check);
    rc = tell_findings(check, rc);
    for (size_t i = 0; rc == 0 && i < check->filters.count; i += FILTERS_A_LOCK) {
        const size_t left = check->filters.count - i;
        rc = check_filters(check, i, i + (left < FILTERS_A_LOCK ? left : FILTERS_A_LOCK));
    }
    return rc;
}

static int check_one(struct check *check, const char *name)
{
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    int rc = tamis__check_name(name);
    if (rc == 0) rc = tamis__catalog_begin(&check->store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    rc = tamis__catalog_get(txn, name, &record);
    tamis__catalog_end(txn);
    if (rc == TAMIS_ENOTFOUND) return tamis__fail_no_filter(check->store, name);
    if (rc == 0) rc = append(&check->filters, record.filter_id);
    return rc < 0 ? rc : check_filters(check, 0, 1);
}

TAMIS_API int64_t tamis_store_verify(tamis_store *store, const char *name, tamis_problem_fn *fn,
                                     void *context)
{
    struct check check = {.store = store, .fn = fn, .context = context};
    check.end = &check.findings;
    const int rc = name ? check_one(&check, name) : check_all(&check);
    free(check.filters.list);
    free(check.expected.list);
    free(check.strays.list);
    return rc != 0 ? rc : check.problems;
}
