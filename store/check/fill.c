/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fill.c: see fill.h.
 *
 * What is needed: the segments of each list, kept generations included, and the indexes of
 * exceptions, as the catalog has them; without a catalog, as the backup has them.  If a segment of
 * a filter is later than its record, the record is out of date.  Then a list is made whole only if
 * a part of it is there.
 *
 * What fits: a file of the backup with the same number, store and filter, whose header is sound.
 * The repair looks at its data afterwards, as at the data of all segments.  A segment that has
 * rotted is mended in place (rot.c), only by a file that has the bytes that were sealed: its
 * checksums hold, and its mark and the constant part of its header are those of the segment.
 *
 * How it comes: the file is copied into staging/, synced, and renamed.  If a repair is killed in
 * between, the next one finds the segment still missing.
 *
 * A segment that was the newest of its list when the backup was made may lack keys that were added
 * later.  Then its filter is unclean from the moment that the copy was last synced.
 */
#include "check/fill.h"

#include <fcntl.h>

#include "check/copy.h"
#include "check/lost.h"
#include "check/rot.h"
#include "segment/broken.h"
#include "segment/live.h"
#include "segment/mark.h"
#include "txn/spares.h"

struct fill {
    uint64_t number, filter_id, next, exceptions, items;
    int64_t since; /* 0: nothing was added after the backup */
    bool in_force;
    bool is_rotted; /* the store has the segment, with other bytes than when it was sealed */
    char name[TAMIS_NAME_MAX + 1];
};

struct filling {
    struct tamis__repair *repair;
    tamis_store *backup;
    struct tamis__catalog_txn *lists, *copied; /* lists: of the store, or that of the backup */
    struct fill *fills;
    size_t count, room;
    bool lists_known;
    bool parts_only; /* only lists of which a part is there are needed */
};

/* ---- What is needed -------------------------------------------------------------------------- */

/* The segments of a filter that were found; *count is 0 if there are none. */
static const struct tamis__found *found_of(const struct filling *f, uint64_t filter_id,
                                           size_t *count)
{
    const struct tamis__found *all = f->repair->found;
    size_t low = 0, high = f->repair->found_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (all[middle].filter_id < filter_id)
            low = middle + 1;
        else
            high = middle;
    }
    size_t end = low;
    while (end < f->repair->found_count && all[end].filter_id == filter_id)
        end++;
    *count = end - low;
    return &all[low];
}

static bool is_found(const struct filling *f, uint64_t filter_id, uint64_t number)
{
    size_t count;
    const struct tamis__found *found = found_of(f, filter_id, &count);
    for (size_t i = 0; i < count; i++)
        if (found[i].entry.number == number && found[i].store_id == f->backup->store_id)
            return true;
    return false;
}

/* How a list stands to the segments of its filter that were found. */
struct standing {
    bool is_dropped;
    bool is_old;  /* a segment is of a later publication */
    bool is_part; /* a part of the list is there, or a segment that comes after another one */
};

static struct standing standing_of(const struct filling *f, const struct tamis__record *list)
{
    size_t count;
    bool starts = true;
    struct standing is = {.is_dropped = false};
    const struct tamis__found *found = found_of(f, list->filter_id, &count);
    for (size_t i = count; i > 0; i--) {
        const struct tamis__found *one = &found[i - 1];
        if (one->store_id != f->backup->store_id || one->entry.kind == TAMIS__KIND_EXCEPTIONS)
            continue;
        starts = one->list_start; /* the oldest one decides */
        is.is_dropped = is.is_dropped || one->next == TAMIS__NEXT_DROPPED;
        is.is_old = is.is_old || one->publication > list->publication;
        for (uint32_t j = 0; j < list->segment_count; j++)
            is.is_part = is.is_part || list->segments[j].number == one->entry.number;
    }
    is.is_part = is.is_part || !starts;
    return is;
}

/* Is the list needed?  A window leaves parts of its list behind, so there a part proves nothing. */
static bool is_needed(const struct filling *f, const struct tamis__record *list)
{
    const struct standing is = standing_of(f, list);
    const bool is_part = is.is_part && list->policy.slices == 0;
    return !is.is_dropped && (is_part || (!is.is_old && !f->parts_only));
}

/* Was the segment the newest of its list when the backup was made, so that keys may have come
 * since? */
static int may_lack_keys(const struct filling *f, const struct tamis__segment_header *header,
                         bool *may)
{
    struct tamis__record record;
    *may = false;
    if (header->kind == TAMIS__KIND_EXCEPTIONS ||
        tamis_kind_has((enum tamis_kind)header->kind, TAMIS_KIND_IS_STATIC))
        return 0;
    const int rc = tamis__catalog_get_by_id(f->copied, header->filter_id, &record);
    if (rc < 0 && rc != TAMIS_ENOTFOUND) return rc;
    *may = rc < 0 || record.segment_count == 0 ||
           record.segments[record.segment_count - 1].number == header->number;
    return 0;
}

/* Opens the file of the backup, if it has one that fits.  Returns 1 if it does. */
static int look_at_copy(const struct filling *f, struct fill *fill)
{
    struct tamis__segment segment;
    struct tamis__resting rest;
    bool may_lack = false;
    int rc = tamis__rest_look(&f->backup->place, fill->number, &rest);
    if (rc == TAMIS_EIO || tamis__is_of_the_system(rc)) return rc;
    if (rc < 0 || !rest.is_accepted) return 0; /* the repair reports what is missing then */
    rc = tamis__segment_open(&f->backup->place, fill->number, false, &segment);
    if (rc < 0) return rc;
    const struct tamis__segment_header *header = segment.header;
    const bool fits =
        header->store_id == f->backup->store_id && header->filter_id == fill->filter_id;
    rc = fits ? may_lack_keys(f, header, &may_lack) : 0;
    fill->items = tamis__segment_items(&segment);
    fill->since = may_lack ? tamis__clean_until_of(segment.live, header->created_at) : 0;
    if (rc == 0) rc = tamis__segment_check(&segment);
    tamis__segment_close(&segment);
    return rc < 0 ? rc : fits;
}

static int tell_no_copy(const struct filling *f, const char *name, uint64_t number, const char *why)
{
    char file[TAMIS__FILE_BYTES];
    tamis__check_file(number, file);
    if (tamis__repair_has_told_of(f->repair, file)) return 0; /* generations share an index */
    const int rc = tamis__repair_tell(f->repair, name, file, TAMIS_ECORRUPT,
                                      "the backup cannot help: %s", why);
    if (rc == 0) f->repair->notes.last->of_count = true; /* the damage is told too */
    return rc;
}

/* Has the backup the bytes with which a rotted segment was sealed?  Returns 1 if it has. */
static int look_at_sealed(const struct filling *f, const char *name, struct fill *fill)
{
    struct tamis__resting own, copy;
    int rc = tamis__rest_look(&f->repair->store->place, fill->number, &own);
    if (rc < 0) return rc;
    if (own.verdict.state != TAMIS__SUMS_BROKEN) return 0; /* somebody has written to it since */
    rc = tamis__rest_look(&f->backup->place, fill->number, &copy);
    if (rc == TAMIS_EIO || tamis__is_of_the_system(rc)) return rc;
    fill->items = copy.items;
    fill->is_rotted = true;
    if (rc == TAMIS_ENOTFOUND) return tell_no_copy(f, name, fill->number, "the backup lacks it");
    if (rc < 0 || !copy.is_accepted || copy.verdict.state == TAMIS__SUMS_BROKEN)
        return tell_no_copy(f, name, fill->number, "it is damaged there, too");
    if (copy.store_id != f->backup->store_id || copy.filter_id != fill->filter_id)
        return tell_no_copy(f, name, fill->number, "the file there is of another filter");
    if (copy.verdict.state == TAMIS__SUMS_NONE || !tamis__rest_is_same(&own, &copy))
        return tell_no_copy(f, name, fill->number,
                            "the file there is older, and keys came later; to take it "
                            "nevertheless, move this one away and run the repair again");
    return 1;
}

static int need(struct filling *f, const char *name, const struct fill *needed)
{
    struct fill fill = *needed;
    const bool is_there = is_found(f, fill.filter_id, fill.number);
    if (is_there && !tamis__numbers_have(&f->repair->rotted, fill.number)) return 0;
    for (size_t i = 0; i < f->count; i++)
        if (f->fills[i].number == fill.number) return 0; /* generations share an index */
    const int rc = is_there ? look_at_sealed(f, name, &fill) : look_at_copy(f, &fill);
    if (rc <= 0) return rc;
    (void)snprintf(fill.name, sizeof fill.name, "%s", name);
    struct fill *added = tamis__array_add(&f->fills, &f->count, &f->room, sizeof *added,
                                          "for the segments of the backup");
    if (added == NULL) return TAMIS_ENOMEM;
    *added = fill;
    return 0;
}

static int need_list(struct filling *f, const char *name, const struct tamis__record *list,
                     bool in_force)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < list->segment_count; i++) {
        const bool newest = i + 1 == list->segment_count;
        rc = need(f, name,
                  &(struct fill){
                      .number = list->segments[i].number,
                      .filter_id = list->filter_id,
                      .next = newest ? TAMIS__NEXT_REFUSE : list->segments[i + 1].number,
                      .exceptions = newest ? list->exceptions : TAMIS__AS_IT_IS,
                      .in_force = in_force,
                  });
    }
    if (rc < 0 || list->exceptions == 0) return rc;
    return need(f, name,
                &(struct fill){.number = list->exceptions,
                               .filter_id = list->filter_id,
                               .next = TAMIS__NEXT_REFUSE,
                               .exceptions = TAMIS__AS_IT_IS,
                               .in_force = in_force});
}

static int need_record(void *context, const struct tamis__record *committed)
{
    struct filling *f = context;
    struct tamis__record now = *committed;
    tamis__record_promote(f->lists == f->copied ? &f->backup->place : &f->repair->store->place,
                          &now);
    return is_needed(f, &now) ? need_list(f, now.name, &now, true) : 0;
}

static int need_generation(void *context, const struct tamis__record *generation)
{
    struct filling *f = context;
    struct tamis__record filter;
    const int rc = tamis__catalog_get_by_id(f->lists, generation->filter_id, &filter);
    if (rc < 0) return rc == TAMIS_ENOTFOUND ? 0 : rc;
    return is_needed(f, &filter) ? need_list(f, filter.name, generation, false) : 0;
}

/* Looks at what the catalog needs; then at what the backup has of lists that lack a part, as a
 * catalog that was made anew does not know of it. */
static int look_at_lists(struct filling *f)
{
    const struct tamis__catalog *own = &f->repair->store->catalog;
    int rc = tamis__catalog_begin(&f->backup->catalog, TAMIS__LOCK_SHARED, &f->copied);
    if (rc == 0 && f->lists_known) {
        rc = tamis__catalog_begin_held(own, TAMIS__LOCK_SHARED, &f->lists);
        if (rc == 0) rc = tamis__catalog_each(f->lists, "", need_record, f);
        if (rc == 0) rc = tamis__catalog_each_generation(f->lists, 0, need_generation, f);
        tamis__catalog_end(f->lists);
        f->parts_only = true;
    }
    f->lists = f->copied;
    if (rc == 0) rc = tamis__catalog_each(f->lists, "", need_record, f);
    if (rc == 0 && !f->lists_known)
        rc = tamis__catalog_each_generation(f->lists, 0, need_generation, f);
    tamis__catalog_end(f->copied);
    return rc;
}

/* ---- The backup ------------------------------------------------------------------------------ */

/* Is it a backup of this store?  Its id is that of the catalog, or of a segment; a store without
 * both takes any. */
static bool is_of_this_store(const struct filling *f)
{
    const struct tamis__repair *repair = f->repair;
    const uint64_t id = f->backup->store_id;
    if (repair->store->store_id != 0) return repair->store->store_id == id;
    for (size_t i = 0; i < repair->found_count; i++)
        if (repair->found[i].store_id == id) return true;
    return repair->found_count == 0;
}

static int open_backup(struct filling *f, const char *path)
{
    const unsigned flags =
        TAMIS_OPEN_READ_ONLY |
        ((f->repair->flags & TAMIS_REPAIR_FORCE_NETWORK_FS) != 0 ? TAMIS_OPEN_FORCE_NETWORK_FS : 0);
    char why[1024];
    if (tamis__same_file(f->repair->store->root_fd, path) > 0)
        return tamis__fail(TAMIS_EINVAL, "%s is the store itself; name a backup of it", path);
    const int rc = tamis_store_open(path, flags, &f->backup);
    (void)snprintf(why, sizeof why, "%s", tamis_last_error());
    if (rc == TAMIS_ENOSTORE)
        return tamis__fail(rc, "there is no backup at '%s'; name what 'tamis backup' has made",
                           path);
    if (rc < 0) return tamis__fail(rc, "the backup cannot be used: %s", why);
    if (is_of_this_store(f)) return 0;
    return tamis__fail(TAMIS_EFOREIGN,
                       "%s is no backup of this store, but of another one; name a backup of this "
                       "store",
                       path);
}

/* ---- What is taken --------------------------------------------------------------------------- */

/* Puts aside what has the place of a segment. */
static int clear_place(const struct filling *f, const struct fill *fill, const char *name)
{
    const struct tamis__repair *repair = f->repair;
    const char *reason = "is not of this filter";
    char why[TAMIS__LOST_WHY_BYTES], quoted[TAMIS__QUOTED_BYTES], file[TAMIS__FILE_BYTES];
    const int rc = tamis__exists(repair->store->place.segments_fd, name,
                                 tamis__check_file(fill->number, file));
    if (rc <= 0) return rc;
    for (size_t i = 0; i < repair->bad_count; i++)
        if (repair->bad[i].number == fill->number) reason = repair->bad[i].reason;
    (void)snprintf(why, sizeof why,
                   "the segment of a backup is in its place; it %.200s (filter %s)", reason,
                   tamis__quote(quoted, fill->name));
    return tamis__lost_put(repair->store, "segments", name, why);
}

static int go_on(void *context, uint64_t bytes)
{
    (void)context;
    (void)bytes;
    return 0;
}

/* Mends a segment that has rotted; those who have it open see its bytes change. */
static int mend(const struct filling *f, const struct fill *fill)
{
    char why[TAMIS__LOST_WHY_BYTES], quoted[TAMIS__QUOTED_BYTES];
    (void)snprintf(why, sizeof why,
                   "it had other bytes than when it was sealed, and was mended from a backup "
                   "(filter %s)",
                   tamis__quote(quoted, fill->name));
    return tamis__rot_mend(f->repair->store, &f->backup->place, fill->number, why);
}

/* Copies the segment into staging/, and gives it its name. */
static int take(const struct filling *f, const struct fill *fill)
{
    const struct tamis__place *place = &f->repair->store->place;
    struct tamis__place staging = *place;
    struct tamis__source_file file = {
        .fd = -1, .number = fill->number, .next = fill->next, .exceptions = fill->exceptions};
    char what[TAMIS__SEGMENT_PATH_BYTES], name[TAMIS__SEGMENT_NAME_BYTES];
    staging.segments_fd = place->staging_fd;
    tamis__segment_name(fill->number, name);
    int rc = tamis__segment_open_file(&f->backup->place, fill->number, O_RDONLY, what, &file.fd);
    if (rc == 0) rc = tamis__unlink(staging.segments_fd, name, what); /* of a repair that died */
    struct tamis__copies copies = {.what = what};
    if (rc == 0) rc = tamis__source_copy(f->backup, &file, &staging, NULL, &copies, go_on, NULL);
    if (rc == 0) rc = tamis__copies_sync(&copies);
    tamis__close(file.fd);
    if (rc == 0 && fill->since != 0) rc = tamis__mark_miss(&staging, fill->number, fill->since);
    if (rc == 0) rc = clear_place(f, fill, name);
    if (rc == 0) rc = tamis__rename(staging.segments_fd, name, place->segments_fd, name, what);
    return rc == 0 ? tamis__sync_file(place->segments_fd, what) : rc;
}

static int tell_taken(const struct filling *f, const struct fill *fill)
{
    char file[TAMIS__FILE_BYTES];
    struct tamis__repair *repair = f->repair;
    tamis__check_file(fill->number, file);
    int rc = tamis__repair_tell(
        repair, fill->name, file, 0, "%s %s the backup: %" PRIu64 " item%s%s",
        repair->dry ? "would be" : "is", fill->is_rotted ? "mended from" : "taken from",
        fill->items, tamis__plural(fill->items),
        fill->is_rotted && !repair->dry ? "; the rotted file is kept in lost/" : "");
    if (rc < 0) return rc;
    repair->notes.last->of_count = !repair->dry; /* what else is wrong with it is told too */
    if (fill->since == 0) return 0;
    rc = tamis__repair_tell(repair, fill->name, file, TAMIS_ECORRUPT,
                            "is as old as the backup: keys that were added later answer absent; "
                            "add them again and run 'tamis sync --accept'");
    if (rc == 0) repair->notes.last->of_count = true;
    return rc;
}

/* Sends each handle of the filter to the catalog, which has another publication of its list. */
static int publish_again(struct filling *f, struct tamis__catalog_txn *txn, uint64_t filter_id)
{
    size_t count;
    struct tamis__record record;
    const struct tamis__found *found = found_of(f, filter_id, &count);
    const int rc = tamis__catalog_get_by_id(txn, filter_id, &record);
    if (rc < 0) return rc == TAMIS_ENOTFOUND ? 0 : rc;
    record.publication++;
    for (size_t i = 0; i < count; i++)
        (void)tamis__segment_raise_epoch(&f->repair->store->place, found[i].entry.number);
    return tamis__catalog_put(txn, &record);
}

static int publish_all(struct filling *f)
{
    struct tamis__catalog_txn *txn = NULL;
    uint64_t before = 0;
    int rc = tamis__catalog_begin_held(&f->repair->store->catalog, TAMIS__LOCK_EXCLUSIVE, &txn);
    for (size_t i = 0; rc == 0 && i < f->count; i++) {
        if (!f->fills[i].in_force || f->fills[i].is_rotted || f->fills[i].filter_id == before)
            continue;
        before = f->fills[i].filter_id;
        rc = publish_again(f, txn, before);
    }
    if (rc == 0) rc = tamis__catalog_commit(txn);
    tamis__catalog_end(txn);
    return rc;
}

int tamis__repair_fill(struct tamis__repair *repair, const char *path, bool lists_known,
                       bool *changed)
{
    struct filling f = {.repair = repair, .lists_known = lists_known};
    *changed = false;
    int rc = open_backup(&f, path);
    if (rc == 0) rc = look_at_lists(&f);
    for (size_t i = 0; rc == 0 && i < f.count; i++) {
        *changed = *changed || !repair->dry;
        if (!repair->dry) rc = f.fills[i].is_rotted ? mend(&f, &f.fills[i]) : take(&f, &f.fills[i]);
        if (rc == 0) rc = tell_taken(&f, &f.fills[i]);
    }
    if (rc == 0 && *changed && lists_known) rc = publish_all(&f);
    tamis_store_close(f.backup);
    free(f.fills);
    return rc < 0 ? rc : (int)f.count;
}
