/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * backup.c: copies a store that is in use.  Each filter of the copy is the filter as it was at one
 * moment.
 *
 *     each filter   under the shared lock, its record, kept generations and exceptions are read and
 *                   its files are opened; then, without the lock, the files are copied: a file that
 *                   is unlinked meanwhile exists until then
 *     at the end    under the shared lock, all names are taken at one moment; filters that were
 *                   dropped meanwhile go
 *     the place     backup_place.c: where the copy is filled, and how it gets its name
 *
 * While the copy is filled, its catalog has the ids of filters for names: filters may be renamed
 * meanwhile.  A file that an older copy in the same place has already is not written again.
 *
 * If the caller wants to be told of damage, a filter that cannot be copied is left out, and the
 * others are copied.  If the older copy has that filter, the copy keeps it as it was there.  If
 * not, and its data alone are damaged, the copy has it with its damage.
 */
#include <fcntl.h>

#include "check/backup_place.h"
#include "check/check.h"
#include "check/copy.h"
#include "check/points.h"
#include "segment/live.h"
#include "txn/spares.h"
#include "txn/wait.h"

struct backup {
    struct tamis_store *from, *to;
    struct tamis__backup_place place;
    struct tamis__catalog_txn *source, *copy;
    struct tamis__numbers filters;
    struct tamis__source_file *files; /* of one filter */
    size_t count, room;
    struct tamis__copies copies;
    uint64_t done_bytes, all_bytes;
    const struct tamis_backup_options *options;
    struct tamis_backup_result result;
    char name[TAMIS_NAME_MAX + 1]; /* of the filter that is copied; "" before it is read */
    bool as_it_is;                 /* a filter that is damaged at rest is copied */
    bool is_over; /* the caller, or an error of the place, ends it: no filter is at fault */
};

static int note_progress(void *context, uint64_t bytes)
{
    struct backup *b = context;
    const struct tamis_backup_options *options = b->options;
    b->done_bytes += bytes;
    if (b->all_bytes < b->done_bytes) b->all_bytes = b->done_bytes; /* the store has grown since */
    const int rc =
        options->progress ? options->progress(options->context, b->done_bytes, b->all_bytes) : 0;
    b->is_over = b->is_over || rc != 0;
    return rc;
}

/* Opens the store that the copy will be. */
static int open_copy(struct backup *b)
{
    struct tamis_store *to = b->to;
    int rc = tamis__absolute_path(b->place.partial, &to->place.path);
    if (rc == 0)
        rc = tamis__open(AT_FDCWD, b->place.partial, O_RDONLY | O_DIRECTORY, 0, b->place.partial,
                         &to->root_fd);
    if (rc == 0)
        rc = tamis__open(to->root_fd, "segments", O_RDONLY | O_DIRECTORY, 0, b->place.partial,
                         &to->place.segments_fd);
    to->place.root_fd = b->from->root_fd;
    b->copies.what = to->place.path;
    if (rc == 0) rc = tamis__store_init_catalog(to, false);
    const struct tamis__store_record empty = {.store_id = b->from->store_id};
    return rc < 0 ? rc : tamis__catalog_begin_new(&to->catalog, &empty, &b->copy);
}

/* ---- One filter ------------------------------------------------------------------------------ */

static struct tamis__source_file *add_file(struct backup *b)
{
    struct tamis__source_file *file =
        tamis__array_add(&b->files, &b->count, &b->room, sizeof *file, "for the files of a filter");
    if (file != NULL) file->fd = -1;
    return file;
}

/* Closes the files from the one of that index on. */
static void close_files(struct backup *b, size_t from)
{
    for (size_t i = from; i < b->count; i++)
        tamis__close(b->files[i].fd);
    b->count = from;
}

/* Where a filter is taken from: the store, or the older copy. */
struct origin {
    struct backup *backup;
    struct tamis_store *store;
    struct tamis__catalog_txn *txn;
    bool has_logs; /* a durable filter may have keys in its logs alone */
};

static int open_list(const struct origin *o, const struct tamis__record *record)
{
    struct backup *b = o->backup;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < record->segment_count; i++) {
        const bool newest = i + 1 == record->segment_count;
        struct tamis__source_file *file = add_file(b);
        if (file == NULL) return TAMIS_ENOMEM;
        rc = tamis__source_open(o->store, record, i, file);
        file->next = newest ? TAMIS__NEXT_REFUSE : record->segments[i + 1].number;
        if (newest) file->exceptions = record->exceptions;
    }
    if (rc < 0 || record->exceptions == 0) return rc;
    struct tamis__source_file *file = add_file(b);
    return file ? tamis__source_open_index(o->store, record, file) : TAMIS_ENOMEM;
}

/* Is it the filter's own damage, so that others can be copied? */
static bool is_damage(const struct backup *b, int rc)
{
    return !b->is_over && (rc == TAMIS_ECORRUPT || rc == TAMIS_EFOREIGN || rc == TAMIS_EVERSION ||
                           rc == TAMIS_ENOTFOUND || rc == TAMIS_EIO || rc == TAMIS_EACCESS);
}

/* Tells the caller of a filter that is left out, or of a generation of it.  The sentence is the
 * last error, and `how` what the copy has of it. */
static int tell_left_out(struct backup *b, int error, const char *how)
{
    char reason[1400];
    (void)snprintf(reason, sizeof reason, "%s; %s", tamis_last_error(), how);
    const struct tamis_problem problem = {
        .size = sizeof problem, .filter = b->name, .file = "", .error = error, .reason = reason};
    return b->options->fn(b->options->context, &problem);
}

/* A generation that is kept, and damaged, is left out by itself. */
static int take_kept(void *context, const struct tamis__record *record)
{
    const struct origin *o = context;
    struct backup *b = o->backup;
    char how[128];
    const size_t before = b->count;
    int rc = open_list(o, record);
    if (rc == 0) return tamis__catalog_put_generation(b->copy, record);
    if (b->options->fn == NULL || !is_damage(b, rc)) return rc;
    close_files(b, before);
    (void)snprintf(how, sizeof how, "generation %" PRIu64 ", which is kept, is not in the copy",
                   record->generation);
    b->result.left_out++;
    return tell_left_out(b, rc, how);
}

/* Makes a name that is not valid, so that no filter has it. */
static void hidden_name(uint64_t filter_id, char name[TAMIS_NAME_MAX + 1])
{
    (void)snprintf(name, TAMIS_NAME_MAX + 1, "\1%016" PRIx64, filter_id);
}

#define NEEDS_REPLAY 2

/* Reads the filter, with the lock.  Returns 1; 0 if it was dropped; NEEDS_REPLAY, and nothing is
 * read, if its logs have to be replayed first. */
static int take_filter(struct origin *o, uint64_t filter_id, struct tamis__record *record)
{
    struct backup *b = o->backup;
    int rc = tamis__store_get_by_id(o->store, o->txn, filter_id, record);
    if (rc == TAMIS_ENOTFOUND) return 0;
    if (rc == 0) memcpy(b->name, record->name, sizeof b->name);
    if (rc == 0 && o->has_logs && record->policy.durable) return NEEDS_REPLAY;
    if (rc == 0) rc = open_list(o, record);
    if (rc == 0) rc = tamis__catalog_each_generation(o->txn, filter_id, take_kept, o);
    hidden_name(filter_id, record->name);
    record->spare_count = 0; /* spares are empty: the copy makes its own */
    if (rc == 0) rc = tamis__catalog_put(b->copy, record);
    return rc < 0 ? rc : 1;
}

/* After an error while a file was copied: was it the file, and not the place of the copy? */
static bool is_of_file(int rc, const struct tamis__source_file *file)
{
    char buffer[32768];
    struct tamis__file_info info;
    uint64_t at = 0;
    if (rc == TAMIS_ECORRUPT || rc == TAMIS_EFOREIGN || rc == TAMIS_EVERSION) return true;
    if (rc != TAMIS_EIO || tamis__file_info(file->fd, "a segment", &info) < 0) return false;
    while (at + sizeof buffer <= info.bytes &&
           tamis__read_hint(file->fd, buffer, sizeof buffer, at))
        at += sizeof buffer;
    return at + sizeof buffer <= info.bytes;
}

/* Copies the files that are open, or takes those of the older copy. */
static int copy_files(struct backup *b, const struct tamis_store *store)
{
    const struct tamis__place *before = b->place.before != NULL ? &b->place.before->place : NULL;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < b->count; i++) {
        const uint64_t was = b->done_bytes;
        b->files[i].as_it_is = b->as_it_is;
        const int taken = tamis__source_copy(store, &b->files[i], &b->to->place, before, &b->copies,
                                             note_progress, b);
        if (taken == 0) b->result.written_bytes += b->done_bytes - was + b->files[i].header_bytes;
        if (taken == 1) b->result.kept_bytes += b->done_bytes - was;
        rc = taken == 1 ? 0 : taken;
        if (rc != 0 && !is_of_file(rc, &b->files[i])) b->is_over = true;
    }
    close_files(b, 0);
    return rc;
}

/* Logs are not copied.  So keys that are only in logs since the machine went down are replayed
 * before the files are read. */
static int replay(const struct backup *b)
{
    tamis_filter *filter = NULL;
    const int rc = tamis_filter_open(b->from, b->name, TAMIS_OPEN_READ_ONLY, &filter);
    tamis_filter_release(filter);
    return rc == TAMIS_ENOTFOUND ? 0 : rc; /* it was dropped or renamed meanwhile */
}

/* Opens the files of a filter under the catalog's lock.  Returns as take_filter(). */
static int take_from_store(struct backup *b, uint64_t filter_id, bool is_replayed,
                           struct tamis__record *record)
{
    int rc = tamis__catalog_begin(&b->from->catalog, TAMIS__LOCK_SHARED, &b->source);
    if (rc < 0) return rc;
    struct origin origin = {
        .backup = b, .store = b->from, .txn = b->source, .has_logs = !is_replayed};
    rc = take_filter(&origin, filter_id, record);
    tamis__catalog_end(b->source);
    b->source = NULL;
    return rc;
}

static int copy_from_store(struct backup *b, uint64_t filter_id, struct tamis__record *record)
{
    int rc = take_from_store(b, filter_id, false, record);
    if (rc == NEEDS_REPLAY) {
        rc = replay(b);
        if (rc == 0) rc = take_from_store(b, filter_id, true, record);
    }
    rc = rc > 0 ? copy_files(b, b->from) : rc;
    close_files(b, 0);
    return rc;
}

/* Takes out of the copy what it has of a filter. */
static int forget_filter(struct backup *b, uint64_t filter_id)
{
    char name[TAMIS_NAME_MAX + 1];
    struct tamis__record record;
    struct tamis__numbers files = {0};
    hidden_name(filter_id, name);
    int rc = tamis__catalog_get(b->copy, name, &record);
    if (rc == TAMIS_ENOTFOUND) return 0;
    if (rc == 0) rc = tamis__forget_all(b->copy, &record, &files);
    for (size_t i = 0; rc == 0 && i < files.count; i++) {
        rc = tamis__segment_remove(&b->to->place, files.list[i]);
        if (rc == 0) rc = tamis__catalog_forget_garbage(b->copy, files.list[i]);
    }
    free(files.list);
    return rc;
}

/* Keeps the filter as the older copy has it.  Returns 1; 0 if that has no such filter, or it is
 * damaged there too; or an error. */
static int keep_older(struct backup *b, uint64_t filter_id, struct tamis__record *record)
{
    struct origin origin = {.backup = b, .store = b->place.before};
    if (origin.store == NULL ||
        tamis__catalog_begin(&origin.store->catalog, TAMIS__LOCK_SHARED, &origin.txn) < 0)
        return 0;
    int rc = take_filter(&origin, filter_id, record);
    tamis__catalog_end(origin.txn);
    const bool is_there = rc > 0;
    if (is_there) rc = copy_files(b, origin.store);
    close_files(b, 0);
    if (rc < 0 && is_damage(b, rc)) return forget_filter(b, filter_id);
    return rc < 0 ? rc : is_there;
}

/* A filter that is damaged at rest, and that no older copy has sound, is copied with its damage:
 * the rest of it may be all that there is.  Returns as keep_older(). */
static int copy_as_it_is(struct backup *b, uint64_t filter_id, struct tamis__record *record)
{
    b->as_it_is = true;
    const int rc = copy_from_store(b, filter_id, record);
    b->as_it_is = false;
    if (rc < 0 && is_damage(b, rc)) return forget_filter(b, filter_id);
    return rc < 0 ? rc : 1;
}

static int copy_filter(struct backup *b, uint64_t filter_id, struct tamis__record *record)
{
    char why[1024];
    const char *how = "the copy does not have the filter";
    b->name[0] = '\0';
    const int error = copy_from_store(b, filter_id, record);
    TAMIS__POINT(TAMIS__POINT_BACKUP_FILLED);
    if (error >= 0 || b->options->fn == NULL || !is_damage(b, error)) return error < 0 ? error : 0;
    (void)snprintf(why, sizeof why, "%s", tamis_last_error());
    char name[TAMIS_NAME_MAX + 1];
    memcpy(name, b->name, sizeof name);
    int rc = forget_filter(b, filter_id);
    if (rc == 0) rc = keep_older(b, filter_id, record);
    if (rc > 0) how = "the copy keeps the filter as it was in the copy before";
    if (rc == 0) {
        rc = copy_as_it_is(b, filter_id, record);
        if (rc > 0) how = "the copy has the filter as it is";
    }
    if (rc < 0) return rc;
    memcpy(b->name, name, sizeof name);
    b->result.left_out++;
    (void)tamis__fail(error, "%s", why);
    return tell_left_out(b, error, how);
}

/* ---- All of them ----------------------------------------------------------------------------- */

static uint64_t bytes_of(const struct tamis__record *record)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < record->segment_count; i++)
        bytes += record->segments[i].file_bytes;
    return bytes;
}

static int note_filter(void *context, const struct tamis__record *record)
{
    struct backup *b = context;
    b->all_bytes += bytes_of(record);
    return tamis__numbers_append(&b->filters, record->filter_id);
}

static int note_kept(void *context, const struct tamis__record *record)
{
    ((struct backup *)context)->all_bytes += bytes_of(record);
    return 0;
}

static int list_filters(struct backup *b)
{
    int rc = tamis__catalog_begin(&b->from->catalog, TAMIS__LOCK_SHARED, &b->source);
    if (rc < 0) return rc;
    rc = tamis__catalog_each(b->source, "", note_filter, b);
    if (rc == 0) rc = tamis__catalog_each_generation(b->source, 0, note_kept, b);
    tamis__catalog_end(b->source);
    b->source = NULL;
    return rc;
}

/* Gives the filter the name that it has now.  Returns 1, or 0 if it was dropped and is left out. */
static int name_filter(struct backup *b, uint64_t filter_id, struct tamis__record *record,
                       struct tamis__numbers *left_out)
{
    char name[TAMIS_NAME_MAX + 1];
    struct tamis__record now;
    hidden_name(filter_id, name);
    int rc = tamis__catalog_get(b->copy, name, record);
    const bool copied = rc == 0;
    if (rc == TAMIS_ENOTFOUND) rc = 0; /* it was dropped before it was copied */
    if (copied) rc = tamis__store_get_by_id(b->from, b->source, filter_id, &now);
    if (copied && rc == TAMIS_ENOTFOUND) {
        rc = tamis__forget_all(b->copy, record, left_out);
    } else if (copied && rc == 0) {
        rc = tamis__catalog_forget(b->copy, record);
        memcpy(record->name, now.name, sizeof record->name);
        record->name_sequence = now.name_sequence;
        if (rc == 0) rc = tamis__catalog_put(b->copy, record);
        if (rc == 0) rc = tamis__catalog_copy_tag(b->source, b->copy, filter_id);
        if (rc == 0) rc = 1;
    }
    return rc;
}

/* A copy that is for use is another store to servers: what they have noted with its number is of
 * the store that it was copied from.  A backup has the number, for a repair or another copy. */
static int name_store(const struct backup *b)
{
    uint64_t known_as;
    int rc = tamis__catalog_get_known_as(b->source, &known_as);
    if (b->place.for_use) tamis__random_bytes(&known_as, sizeof known_as);
    return rc < 0 ? rc : tamis__catalog_put_known_as(b->copy, known_as);
}

/* Takes all names at one moment, and the numbers that the store will give out next.  Returns how
 * many filters there are. */
static int64_t name_all(struct backup *b)
{
    struct tamis__numbers left_out = {0};
    int64_t named = 0;
    struct tamis__record record;
    int rc = tamis__catalog_begin(&b->from->catalog, TAMIS__LOCK_SHARED, &b->source);
    if (rc == 0) {
        *tamis__catalog_store(b->copy) = *tamis__catalog_store(b->source);
        rc = name_store(b);
        for (size_t i = 0; rc >= 0 && i < b->filters.count; i++) {
            rc = name_filter(b, b->filters.list[i], &record, &left_out);
            named += rc > 0;
        }
        tamis__catalog_end(b->source);
        b->source = NULL;
    }
    for (size_t i = 0; rc >= 0 && i < left_out.count; i++) {
        rc = tamis__segment_remove(&b->to->place, left_out.list[i]);
        if (rc == 0) rc = tamis__catalog_forget_garbage(b->copy, left_out.list[i]);
    }
    free(left_out.list);
    return rc < 0 ? rc : named;
}

static int copy_all(struct backup *b)
{
    struct tamis__record record;
    int rc = list_filters(b);
    for (size_t i = 0; rc == 0 && i < b->filters.count; i++)
        rc = copy_filter(b, b->filters.list[i], &record);
    return rc == 0 ? tamis__copies_sync(&b->copies) : rc;
}

static int finish_backup(struct backup *b)
{
    int rc = tamis__sync_file(b->to->place.segments_fd, b->place.partial);
    if (rc == 0) rc = tamis__catalog_install_new(b->copy);
    return rc < 0 ? rc : tamis__backup_place_finish(&b->place, b->to);
}

static void clear_backup(struct backup *b, bool failed)
{
    close_files(b, 0);
    tamis__copies_drop(&b->copies);
    tamis__catalog_end(b->copy);
    tamis__backup_place_close(&b->place, failed);
    tamis_store_close(b->to);
    free(b->filters.list);
    free(b->files);
}

static int64_t run_backup(struct backup *b, const char *path)
{
    int64_t named = 0;
    b->to = tamis__store_new(false);
    if (b->to == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory copying to %s", path);
    int rc = tamis__backup_place_open(&b->place, path);
    if (rc == 0) rc = open_copy(b);
    if (rc == 0) rc = copy_all(b);
    if (rc == 0) {
        named = name_all(b);
        rc = named < 0 ? (int)named : finish_backup(b);
    }
    clear_backup(b, rc != 0);
    return rc != 0 ? rc : named;
}

TAMIS_API int64_t tamis_store_backup_with(tamis_store *store, const char *path,
                                          const struct tamis_backup_options *options,
                                          struct tamis_backup_result *result)
{
    struct tamis_backup_options own = {.size = sizeof own};
    TAMIS__REFUSE_NULL(store, "store");
    TAMIS__REFUSE_NULL(path, "path");
    int rc = options == NULL
                 ? 0
                 : tamis__take_struct(options, &own, sizeof own, "struct tamis_backup_options");
    if (rc == 0 && result != NULL) rc = tamis__check_struct(result, "struct tamis_backup_result");
    if (rc < 0) return rc;
    if (*path == '\0' || (own.flags & ~(uint32_t)TAMIS_BACKUP_FOR_USE) != 0)
        return tamis__fail(TAMIS_EINVAL, "tamis_store_backup needs the path of a directory, and "
                                         "flags TAMIS_BACKUP_*");
    struct backup b = {.from = store,
                       .options = &own,
                       .place = {.from = store,
                                 .lock = {.fd = -1},
                                 .for_use = (own.flags & TAMIS_BACKUP_FOR_USE) != 0}};
    const int64_t named = run_backup(&b, path);
    b.result.size = sizeof b.result;
    b.result.filters = named < 0 ? 0 : (uint64_t)named;
    if (result != NULL && named >= 0) tamis__give_struct(&b.result, sizeof b.result, result);
    return named;
}

TAMIS_API int64_t tamis_store_backup(tamis_store *store, const char *path,
                                     int (*progress)(void *context, uint64_t done_bytes,
                                                     uint64_t all_bytes),
                                     void *context)
{
    const struct tamis_backup_options options = {
        .size = sizeof options, .progress = progress, .context = context};
    return tamis_store_backup_with(store, path, &options, NULL);
}
