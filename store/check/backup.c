/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * backup.c: copies a store that is in use.  Each filter of the copy is the filter as it was at one
 * moment.
 *
 *     DIR.partial   is filled, under a lock on it; what a killed backup leaves there, the next one
 *                   removes
 *     each filter   under the shared lock, its record, kept generations and exceptions are read and
 *                   its files are opened; then, without the lock, the files are copied: a file that
 *                   is unlinked meanwhile exists until then
 *     at the end    under the shared lock, all names are taken at one moment; filters that were
 *                   dropped meanwhile go
 *     DIR           the copy gets this name when all of it is synced
 *
 * While the copy is filled, its catalog has the ids of filters for names: filters may be renamed
 * meanwhile.
 */
#include <fcntl.h>

#include "check/copy.h"
#include "os/inside.h"
#include "txn/spares.h"
#include "txn/wait.h"

/* A file that marks a directory which a backup fills.  So only files of a backup are ever
 * removed. */
#define MARK_NAME "backup-is-being-made"

struct backup {
    struct tamis_store *from, *to;
    char *path, *partial; /* absolute, or as given; owned */
    struct tamis__private_fd lock;
    bool marked;
    struct tamis__catalog_txn *source, *copy;
    struct tamis__numbers filters;
    struct tamis__source_file *files; /* of one filter */
    size_t count, room;
    uint64_t done_bytes, all_bytes;
    int (*progress)(void *context, uint64_t done_bytes, uint64_t all_bytes);
    void *context;
};

static int note_progress(void *context, uint64_t bytes)
{
    struct backup *b = context;
    b->done_bytes += bytes;
    if (b->all_bytes < b->done_bytes) b->all_bytes = b->done_bytes; /* the store has grown since */
    return b->progress ? b->progress(b->context, b->done_bytes, b->all_bytes) : 0;
}

/* ---- The directory --------------------------------------------------------------------------- */

static int unlink_name(void *context, const char *name)
{
    const int *fd = context;
    return tamis__unlink(*fd, name, name);
}

static int empty_directory(int root_fd, const char *name)
{
    int fd = -1;
    int rc = tamis__open(root_fd, name, O_RDONLY | O_DIRECTORY, 0, name, &fd);
    if (rc == TAMIS_ENOTFOUND) return 0;
    if (rc < 0) return rc;
    rc = tamis__each_name(fd, name, unlink_name, &fd);
    tamis__close(fd);
    return rc < 0 ? rc : tamis__remove_directory(root_fd, name, name);
}

/* Removes what a backup puts into the directory, and nothing else. */
static int empty_partial(const struct backup *b)
{
    static const char *const names[] = {"catalog.mdb", "catalog.mdb.new", "catalog.lock",
                                        MARK_NAME};
    const int fd = b->lock.fd;
    int rc = empty_directory(fd, "segments");
    if (rc == 0) rc = empty_directory(fd, "staging");
    for (size_t i = 0; rc == 0 && i < sizeof names / sizeof names[0]; i++)
        rc = tamis__unlink(fd, names[i], b->partial);
    return rc;
}

static int any_name(void *context, const char *name)
{
    (void)context;
    (void)name;
    return 1;
}

static int check_target(const struct backup *b)
{
    int fd = -1;
    int rc = tamis__exists(AT_FDCWD, b->path, b->path);
    if (rc <= 0) return rc;
    rc = tamis__open(AT_FDCWD, b->path, O_RDONLY | O_DIRECTORY, 0, b->path, &fd);
    if (rc == 0) {
        rc = tamis__each_name(fd, b->path, any_name, NULL);
        tamis__close(fd);
    }
    if (rc == 0) return 0;
    return tamis__fail(TAMIS_EEXIST,
                       "there is something at %s already; name a directory that is not there yet, "
                       "or is empty",
                       b->path);
}

/* Removes what a killed backup has left, and takes the directory. */
static int mark(struct backup *b)
{
    int fd = -1;
    int rc = tamis__exists(b->lock.fd, MARK_NAME, b->partial);
    if (rc > 0) rc = empty_partial(b);
    if (rc == 0) rc = tamis__each_name(b->lock.fd, b->partial, any_name, NULL);
    if (rc > 0)
        return tamis__fail(TAMIS_EEXIST,
                           "there is something in %s that no backup has put there; remove or "
                           "rename that directory",
                           b->partial);
    if (rc == 0)
        rc = tamis__inside_make_copy(b->from->root_fd, b->lock.fd, MARK_NAME, b->partial, &fd);
    tamis__close(fd);
    b->marked = rc == 0;
    return rc;
}

static int make_partial(struct backup *b)
{
    unsigned mode = 0;
    int rc = tamis__inside_mode(b->from->root_fd, b->partial, &mode);
    if (rc >= 0) rc = tamis__make_path(b->partial);
    if (rc < 0) return rc;
    const bool is_new = rc > 0;
    rc = tamis__private_open(AT_FDCWD, b->partial, O_RDONLY | O_DIRECTORY, 0, b->partial, &b->lock);
    if (rc == 0 && is_new) rc = tamis__inside_give(b->from->root_fd, b->lock.fd, b->partial);
    if (rc == 0 && is_new) rc = tamis__inside_set_root(b->lock.fd, mode, b->partial);
    if (rc == 0) rc = tamis__try_lock(b->lock.fd, TAMIS__LOCK_EXCLUSIVE, b->partial);
    if (rc == 0)
        return tamis__fail(TAMIS_EEXIST, "another backup is being made in %s; wait for its end",
                           b->partial);
    if (rc > 0) rc = mark(b);
    if (rc == 0) rc = tamis__inside_make_directory(b->lock.fd, "segments", mode, b->partial);
    if (rc == 0) rc = tamis__inside_make_directory(b->lock.fd, "staging", mode, b->partial);
    if (rc == 0) rc = tamis__inside_make_once(b->lock.fd, "catalog.lock", mode, b->partial);
    return rc;
}

/* Opens the store that the copy will be. */
static int open_copy(struct backup *b)
{
    struct tamis_store *to = b->to;
    int rc = tamis__absolute_path(b->partial, &to->place.path);
    if (rc == 0)
        rc = tamis__open(AT_FDCWD, b->partial, O_RDONLY | O_DIRECTORY, 0, b->partial, &to->root_fd);
    if (rc == 0)
        rc = tamis__open(to->root_fd, "segments", O_RDONLY | O_DIRECTORY, 0, b->partial,
                         &to->place.segments_fd);
    to->place.root_fd = b->from->root_fd;
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

static void close_files(struct backup *b)
{
    for (size_t i = 0; i < b->count; i++)
        tamis__close(b->files[i].fd);
    b->count = 0;
}

static int open_list(struct backup *b, const struct tamis__record *record)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < record->segment_count; i++) {
        const bool newest = i + 1 == record->segment_count;
        struct tamis__source_file *file = add_file(b);
        if (file == NULL) return TAMIS_ENOMEM;
        rc = tamis__source_open(b->from, record, i, file);
        file->next = newest ? TAMIS__NEXT_REFUSE : record->segments[i + 1].number;
        if (newest) file->exceptions = record->exceptions;
    }
    if (rc < 0 || record->exceptions == 0) return rc;
    struct tamis__source_file *file = add_file(b);
    return file ? tamis__source_open_index(b->from, record, file) : TAMIS_ENOMEM;
}

static int take_kept(void *context, const struct tamis__record *record)
{
    struct backup *b = context;
    int rc = open_list(b, record);
    return rc < 0 ? rc : tamis__catalog_put_generation(b->copy, record);
}

/* Makes a name that is not valid, so that no filter has it. */
static void hidden_name(uint64_t filter_id, char name[TAMIS_NAME_MAX + 1])
{
    (void)snprintf(name, TAMIS_NAME_MAX + 1, "\1%016" PRIx64, filter_id);
}

/* Reads the filter, with the lock.  Returns 1, or 0 if it was dropped. */
static int take_filter(struct backup *b, uint64_t filter_id, struct tamis__record *record)
{
    int rc = tamis__store_get_by_id(b->from, b->source, filter_id, record);
    if (rc == TAMIS_ENOTFOUND) return 0;
    if (rc == 0) rc = open_list(b, record);
    if (rc == 0) rc = tamis__catalog_each_generation(b->source, filter_id, take_kept, b);
    hidden_name(filter_id, record->name);
    record->spare_count = 0; /* spares are empty: the copy makes its own */
    if (rc == 0) rc = tamis__catalog_put(b->copy, record);
    return rc < 0 ? rc : 1;
}

/* Logs are not copied.  So keys that are only in logs since the machine went down are replayed
 * first. */
static int bring_back(struct backup *b, uint64_t filter_id, struct tamis__record *record)
{
    tamis_filter *filter = NULL;
    int rc = tamis__catalog_begin(&b->from->catalog, TAMIS__LOCK_SHARED, &b->source);
    if (rc < 0) return rc;
    rc = tamis__store_get_by_id(b->from, b->source, filter_id, record);
    tamis__catalog_end(b->source);
    b->source = NULL;
    if (rc == 0 && record->policy.durable)
        rc = tamis_filter_open(b->from, record->name, TAMIS_READ_ONLY, &filter);
    if (filter != NULL) (void)tamis_filter_close(filter);
    return rc == TAMIS_ENOTFOUND ? 0 : rc;
}

static int copy_filter(struct backup *b, uint64_t filter_id, struct tamis__record *record)
{
    int rc = bring_back(b, filter_id, record);
    if (rc == 0) rc = tamis__catalog_begin(&b->from->catalog, TAMIS__LOCK_SHARED, &b->source);
    if (rc < 0) return rc;
    rc = take_filter(b, filter_id, record);
    tamis__catalog_end(b->source);
    b->source = NULL;
    for (size_t i = 0; rc > 0 && i < b->count; i++) {
        const int copied =
            tamis__source_copy(b->from, &b->files[i], &b->to->place, note_progress, b);
        if (copied != 0) rc = copied;
    }
    close_files(b);
    return rc == 1 ? 0 : rc;
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
        if (rc == 0) rc = 1;
    }
    return rc;
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
    return rc;
}

/* Renames the directory, and brings the rename to the disk. */
static int finish_backup(struct backup *b)
{
    char *parent = NULL;
    int fd = -1, rc = tamis__sync_file(b->to->place.segments_fd, b->partial);
    if (rc == 0) rc = tamis__catalog_install_new(b->copy, NULL);
    if (rc == 0 && asprintf(&parent, "%s/..", b->to->place.path) < 0) {
        parent = NULL;
        rc = tamis__fail(TAMIS_ENOMEM, "out of memory for the path %s", b->path);
    }
    if (rc == 0) rc = tamis__open(AT_FDCWD, parent, O_RDONLY | O_DIRECTORY, 0, b->path, &fd);
    if (rc == 0) rc = tamis__unlink(b->lock.fd, MARK_NAME, b->partial);
    if (rc == 0) rc = tamis__rename(AT_FDCWD, b->partial, AT_FDCWD, b->path, b->path);
    if (rc == 0) rc = tamis__sync_file(fd, b->path);
    tamis__close(fd);
    free(parent);
    return rc;
}

static int set_paths(struct backup *b, const char *path)
{
    size_t bytes = strlen(path);
    while (bytes > 1 && path[bytes - 1] == '/')
        bytes--;
    if (asprintf(&b->path, "%.*s", (int)bytes, path) < 0) b->path = NULL;
    if (asprintf(&b->partial, "%.*s.partial", (int)bytes, path) < 0) b->partial = NULL;
    if (b->path != NULL && b->partial != NULL) return 0;
    return tamis__fail(TAMIS_ENOMEM, "out of memory for the path %s", path);
}

static void clear_backup(struct backup *b, bool failed)
{
    close_files(b);
    tamis__catalog_end(b->copy);
    if (failed && b->marked && empty_partial(b) == 0)
        (void)tamis__remove_directory(AT_FDCWD, b->partial, b->partial);
    tamis__private_close(&b->lock);
    tamis_store_close(b->to);
    free(b->filters.list);
    free(b->files);
    free(b->path);
    free(b->partial);
}

TAMIS_API int64_t tamis_store_backup(tamis_store *store, const char *path,
                                     int (*progress)(void *context, uint64_t done_bytes,
                                                     uint64_t all_bytes),
                                     void *context)
{
    TAMIS__REFUSE_NULL(store, "store");
    TAMIS__REFUSE_NULL(path, "path");
    struct backup b = {.from = store, .lock = {.fd = -1}, .progress = progress, .context = context};
    int64_t named = 0;
    if (*path == '\0')
        return tamis__fail(TAMIS_EINVAL, "tamis_store_backup needs the path of a directory");
    b.to = tamis__store_new(false);
    if (b.to == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory copying to %s", path);
    int rc = set_paths(&b, path);
    if (rc == 0) rc = check_target(&b);
    if (rc == 0) rc = make_partial(&b);
    if (rc == 0) rc = open_copy(&b);
    if (rc == 0) rc = copy_all(&b);
    if (rc == 0) {
        named = name_all(&b);
        rc = named < 0 ? (int)named : finish_backup(&b);
    }
    clear_backup(&b, rc != 0);
    return rc != 0 ? rc : named;
}
