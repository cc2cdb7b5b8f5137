/* SPDX-License-Identifier: BSD-2-Clause */
/* scan.c: checks the header of every file in segments/.  Changes nothing. */
#include "check/points.h"
#include "check/repair.h"
#include "exceptions/index.h"
#include "segment/broken.h"
#include "segment/live.h"

#define LOOKING "looking at the segments"

static int note_bad(struct tamis__repair *repair, uint64_t number, const char *file, int error,
                    const char *reason)
{
    struct tamis__bad *bad =
        tamis__array_add(&repair->bad, &repair->bad_count, &repair->bad_room, sizeof *bad, LOOKING);
    if (bad == NULL) return TAMIS_ENOMEM;
    *bad = (struct tamis__bad){
        .number = number, .error = error, .file = strdup(file), .reason = strdup(reason)};
    return bad->file == NULL || bad->reason == NULL
               ? tamis__fail(TAMIS_ENOMEM, "out of memory " LOOKING)
               : 0;
}

static void describe_found(const struct tamis__segment *segment, struct tamis__found *found)
{
    const struct tamis__segment_header *h = segment->header;
    const struct tamis__name_label *label = tamis__label_current(h);
    *found = (struct tamis__found){
        .policy = tamis__header_policy(h),
        .store_id = h->store_id,
        .filter_id = h->filter_id,
        .generation = h->generation,
        .publication = h->publication,
        .next = tamis__segment_next(segment),
        /* ORDER relaxed: the word is only written under the exclusive lock, which is held. */
        .in_force = __atomic_load_n(&segment->live->in_force, __ATOMIC_RELAXED),
        .exceptions = tamis__segment_exceptions(segment),
        .keep = h->keep <= TAMIS_KEEP_MAX ? h->keep : TAMIS_KEEP_MAX,
        .list_start = h->list_start != 0,
    };
    tamis__listed_segment_from_header(h, &found->entry);
    found->entry.items = tamis__segment_items(segment);
    /* ORDER relaxed: the word is not 0 once there was a writer. */
    const bool written =
        found->entry.items != 0 || __atomic_load_n(&segment->live->mark, __ATOMIC_RELAXED) != 0;
    found->is_blank_spare = !written && (h->flags & TAMIS__SEGMENT_AHEAD) != 0;
    memcpy(found->key_digest, h->key_digest, sizeof found->key_digest);
    if (label == NULL || tamis__check_name(label->name) < 0) return;
    memcpy(found->name, label->name, strlen(label->name));
    found->name_sequence = label->sequence;
}

/* Does its kind accept the segment?  0, or an error with *reason. */
static int judge_segment(const struct tamis__segment *segment, const char **reason)
{
    const struct tamis__segment_header *h = segment->header;
    const struct tamis__kind *kind = tamis__kind_by_id(h->kind);
    if (h->kind == TAMIS__KIND_EXCEPTIONS) return tamis__index_check(segment, reason);
    *reason = "is of a kind that this library does not have; use a newer Tamis";
    return kind != NULL ? kind->check(h, reason) : TAMIS_EVERSION;
}

static int note_found(struct tamis__repair *repair, const struct tamis__segment *segment)
{
    struct tamis__found *found = tamis__array_add(&repair->found, &repair->found_count,
                                                  &repair->found_room, sizeof *found, LOOKING);
    if (found == NULL) return TAMIS_ENOMEM;
    describe_found(segment, found);
    return 0;
}

/* Is it no fault of the file that it could not be read?  Then it may be there again in a moment,
 * and nothing may be decided without it. */
static bool stops(int error)
{
    return error == TAMIS_EIO || tamis__is_of_the_system(error);
}

static int look_at(struct tamis__repair *repair, uint64_t number, const char *file)
{
    struct tamis__segment segment;
    const char *reason = NULL;
    int rc = tamis__segment_open(&repair->store->place, number, false, &segment);
    if (stops(rc)) return rc;
    if (rc < 0) return note_bad(repair, number, file, rc, tamis__check_reason(file, NULL));
    rc = judge_segment(&segment, &reason);
    const int whole = tamis__segment_check(&segment);
    if (whole < 0) {
        rc = TAMIS_ECORRUPT;
        reason = "was truncated while it was read";
    }
    if (stops(whole))
        rc = whole;
    else
        rc = rc < 0 ? note_bad(repair, number, file, rc, reason) : note_found(repair, &segment);
    tamis__segment_close(&segment);
    return rc;
}

static int look_at_name(void *context, const char *name)
{
    struct tamis__repair *repair = context;
    char file[TAMIS__FILE_BYTES];
    const uint64_t number = tamis__segment_number(name);
    (void)snprintf(file, sizeof file, "segments/%s", name);
    if (number > repair->highest) repair->highest = number;
    if (number != 0) return look_at(repair, number, file);
    if (tamis__is_drawer(name)) return tamis__fail_drawers(repair->store->place.path);
    return note_bad(repair, 0, file, TAMIS_EFOREIGN, "is not a segment's name; remove the file");
}

/* Logs are judged later; here they only have to be readable. */
static int look_at_log(void *context, const char *name)
{
    struct tamis__repair *repair = context;
    const struct tamis__logs logs = tamis__store_logs(repair->store);
    struct tamis__log log;
    uint64_t filter_id, nonce;
    if (!tamis__log_parse_name(name, &filter_id, &nonce)) return 0;
    const char *reason;
    int rc = tamis__log_look(&logs, name, &log);
    if (rc < 0) return stops(rc) ? rc : 0;
    rc = tamis__log_judge(&logs, &log, &reason);
    tamis__log_close(&log);
    return stops(rc) ? rc : 0;
}

static int by_filter(const void *a, const void *b)
{
    const struct tamis__found *x = a, *y = b;
    if (x->filter_id != y->filter_id) return x->filter_id < y->filter_id ? -1 : 1;
    return (x->entry.number > y->entry.number) - (x->entry.number < y->entry.number);
}

int tamis__repair_scan(struct tamis__repair *repair)
{
    const struct tamis__place *place = &repair->store->place;
    const struct tamis__logs logs = tamis__store_logs(repair->store);
    int rc = tamis__each_name(place->segments_fd, place->path, look_at_name, repair);
    if (rc == 0) rc = tamis__logs_each_name(&logs, look_at_log, repair);
    if (rc == 0 && repair->found_count > 0)
        qsort(repair->found, repair->found_count, sizeof repair->found[0], by_filter);
    TAMIS__POINT(TAMIS__POINT_REPAIR_SCANNED);
    return rc;
}

void tamis__repair_clear_scan(struct tamis__repair *repair)
{
    for (size_t i = 0; i < repair->bad_count; i++) {
        free(repair->bad[i].file);
        free(repair->bad[i].reason);
    }
    free(repair->bad);
    free(repair->found);
    repair->bad = NULL;
    repair->found = NULL;
    repair->bad_count = repair->bad_room = repair->found_count = repair->found_room = 0;
}
