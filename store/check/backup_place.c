/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * backup_place.c: the directory of a backup.
 *
 *     DIR.partial   is filled, under a lock on it.  A mark in it says that a backup has made it, so
 *                   that only files of a backup are ever removed
 *     DIR           if nothing is there, DIR.partial gets this name when all of it is synced.  If
 *                   an older copy is there, the two swap their names in one step, and the older one
 *                   is removed.
 *
 * Files that have not changed are in both while DIR.partial is filled.  Nobody writes to them.
 * Killed before the step, DIR is the older copy; killed after it, DIR is the new one.  What is left
 * in DIR.partial has the mark, and the next backup removes it.
 *
 * The note in DIR says which store it is a copy of, and what its catalog's size and time were.  If
 * these are others now, somebody has worked with the copy as with a store, and no backup replaces
 * it.
 */
#include "check/backup_place.h"

#include <fcntl.h>

#include "check/points.h"
#include "hash/sum.h"
#include "os/inside.h"
#include "os/replace.h"

#define MARK_NAME "backup-is-being-made"
#define NOTE_NAME "backup-note"
static const char note_magic[16] = "Tamis backup 1\n";

/* docs/format.md 5. */
struct note {
    char magic[16];
    uint64_t store_id;
    uint64_t catalog_bytes;
    int64_t catalog_written; /* the time of catalog.mdb, ns since 1970 */
    uint64_t checksum;       /* XXH3-64 of the bytes before */
};

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

/* The mark goes last: until then a next backup knows what this is. */
static const char *const names[] = {"catalog.mdb", "catalog.mdb.new", "catalog.lock", NOTE_NAME,
                                    MARK_NAME};
static const char *const directories[] = {"segments", "staging", "logs"};
#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* Removes what a backup puts into the directory, and nothing else. */
static int empty_copy(int fd, const char *what)
{
    int rc = empty_directory(fd, "segments");
    if (rc == 0) rc = empty_directory(fd, "staging");
    if (rc == 0) rc = tamis__remove_directory(fd, "logs", what); /* it has none */
    for (size_t i = 0; rc == 0 && i < COUNT(names); i++)
        rc = tamis__unlink(fd, names[i], what);
    return rc;
}

static int any_name(void *context, const char *name)
{
    (void)context;
    (void)name;
    return 1;
}

/* Is it a name that no backup makes? */
static int foreign_name(void *context, const char *name)
{
    (void)context;
    for (size_t i = 0; i < COUNT(names); i++)
        if (strcmp(name, names[i]) == 0) return 0;
    for (size_t i = 0; i < COUNT(directories); i++)
        if (strcmp(name, directories[i]) == 0) return 0;
    return 1;
}

static int foreign_segment(void *context, const char *name)
{
    (void)context;
    return tamis__segment_number(name) == 0;
}

/* Does the directory `name` have something that `judge` says a backup has not put there? */
static int has_foreign(int root_fd, const char *name, tamis__name_fn *judge)
{
    int fd = -1;
    int rc = tamis__open(root_fd, name, O_RDONLY | O_DIRECTORY, 0, name, &fd);
    if (rc == TAMIS_ENOTFOUND) return 0;
    if (rc < 0) return rc;
    rc = tamis__each_name(fd, name, judge, NULL);
    tamis__close(fd);
    return rc;
}

/* ---- The note -------------------------------------------------------------------------------- */

static uint64_t note_sum(const struct note *note)
{
    return tamis__checksum(note, offsetof(struct note, checksum));
}

static int write_note(const struct tamis__backup_place *place)
{
    struct tamis__file_info info;
    int fd = -1;
    int rc = tamis__named_info(place->lock.fd, "catalog.mdb", place->partial, &info);
    if (rc < 0) return rc;
    struct note note = {.store_id = place->from->store_id,
                        .catalog_bytes = info.bytes,
                        .catalog_written = info.written_ns};
    memcpy(note.magic, note_magic, sizeof note.magic);
    note.checksum = note_sum(&note);
    rc = tamis__inside_make_copy(place->from->root_fd, place->lock.fd, NOTE_NAME, place->partial,
                                 &fd);
    if (rc == 0) rc = tamis__write_at(fd, &note, sizeof note, 0, place->partial);
    if (rc == 0) rc = tamis__sync_file(fd, place->partial);
    tamis__close(fd);
    return rc;
}

static int fail_taken(const struct tamis__backup_place *place, const char *why)
{
    return tamis__fail(TAMIS_EEXIST,
                       "there is something at %s already%s; name a directory that is not there "
                       "yet, or is empty",
                       place->path, why);
}

/* Is it a copy of this store, as a backup has left it?  0 then. */
static int judge_note(const struct tamis__backup_place *place, int root_fd)
{
    struct note note = {.store_id = 0};
    struct tamis__file_info info;
    int fd = -1;
    int rc = tamis__inside_open(root_fd, NOTE_NAME, O_RDONLY, place->path, &fd);
    if (rc == TAMIS_ENOTFOUND) return fail_taken(place, "");
    if (rc < 0) return rc;
    const bool is_read = tamis__read_hint(fd, &note, sizeof note, 0);
    tamis__close(fd);
    if (!is_read || memcmp(note.magic, note_magic, sizeof note.magic) != 0 ||
        note.checksum != note_sum(&note))
        return fail_taken(place, ", whose " NOTE_NAME " is not one of this version");
    if (note.store_id != place->from->store_id)
        return fail_taken(place, ", a backup of another store");
    rc = tamis__named_info(root_fd, "catalog.mdb", place->path, &info);
    if (rc == TAMIS_ENOTFOUND) return 0;
    if (rc == 0 && (info.bytes != note.catalog_bytes || info.written_ns != note.catalog_written))
        return fail_taken(place, ", a backup that was written to since it was made");
    return rc;
}

/* ---- What is there --------------------------------------------------------------------------- */

/* Something is there: may this backup take its place? */
static int check_older(struct tamis__backup_place *place, int fd)
{
    struct tamis__file_info store, here;
    int rc = tamis__file_info(place->from->root_fd, place->path, &store);
    if (rc == 0) rc = tamis__file_info(fd, place->path, &here);
    if (rc == 0 && store.device == here.device && store.inode == here.inode)
        return fail_taken(place, ", the store itself");
    if (rc == 0 && place->for_use) return fail_taken(place, "");
    if (rc == 0) rc = judge_note(place, fd);
    if (rc == 0) rc = tamis__each_name(fd, place->path, foreign_name, NULL);
    if (rc == 0) rc = has_foreign(fd, "segments", foreign_segment);
    if (rc == 0) rc = has_foreign(fd, "logs", any_name);
    if (rc > 0) rc = fail_taken(place, ", with files that no backup has put there");
    if (rc < 0) return rc;
    place->replaces = true;
    /* If it cannot be read, nothing is taken from it, and it is replaced all the same. */
    if (tamis_store_open(place->path, TAMIS_OPEN_READ_ONLY, &place->before) < 0)
        place->before = NULL;
    return 0;
}

static int check_target(struct tamis__backup_place *place)
{
    int fd = -1;
    int rc = tamis__exists(AT_FDCWD, place->path, place->path);
    if (rc <= 0) return rc;
    rc = tamis__open(AT_FDCWD, place->path, O_RDONLY | O_DIRECTORY, 0, place->path, &fd);
    if (rc < 0) return fail_taken(place, "");
    rc = tamis__each_name(fd, place->path, any_name, NULL);
    if (rc > 0) rc = check_older(place, fd);
    tamis__close(fd);
    return rc;
}

/* ---- The directory that is filled ------------------------------------------------------------ */

/* Removes what a killed backup has left, and takes the directory. */
static int mark(struct tamis__backup_place *place)
{
    const int dir = place->lock.fd;
    int fd = -1;
    int rc = tamis__exists(dir, MARK_NAME, place->partial);
    if (rc > 0) rc = empty_copy(dir, place->partial);
    if (rc == 0) rc = tamis__each_name(dir, place->partial, any_name, NULL);
    if (rc > 0)
        return tamis__fail(TAMIS_EEXIST,
                           "there is something in %s that no backup has put there; remove or "
                           "rename that directory",
                           place->partial);
    if (rc == 0)
        rc = tamis__inside_make_copy(place->from->root_fd, dir, MARK_NAME, place->partial, &fd);
    tamis__close(fd);
    place->marked = rc == 0;
    return rc;
}

static int make_partial(struct tamis__backup_place *place)
{
    const int root = place->from->root_fd;
    const char *partial = place->partial;
    unsigned mode = 0;
    int rc = tamis__inside_mode(root, partial, &mode);
    if (rc >= 0) rc = tamis__make_path(partial);
    if (rc < 0) return rc;
    const bool is_new = rc > 0;
    rc = tamis__private_open(AT_FDCWD, partial, O_RDONLY | O_DIRECTORY, 0, partial, &place->lock);
    if (rc == 0 && is_new) rc = tamis__inside_give(root, place->lock.fd, partial);
    if (rc == 0 && is_new) rc = tamis__inside_set_root(place->lock.fd, mode, partial);
    if (rc == 0) rc = tamis__try_lock(place->lock.fd, TAMIS__LOCK_EXCLUSIVE, partial);
    if (rc == 0)
        return tamis__fail(TAMIS_EEXIST, "another backup is being made in %s; wait for its end",
                           partial);
    if (rc > 0) rc = mark(place);
    if (rc == 0) rc = tamis__inside_make_directory(place->lock.fd, "segments", mode, partial);
    if (rc == 0) rc = tamis__inside_make_directory(place->lock.fd, "staging", mode, partial);
    if (rc == 0) rc = tamis__inside_make_once(place->lock.fd, "catalog.lock", mode, partial);
    return rc;
}

static int set_paths(struct tamis__backup_place *place, const char *path)
{
    size_t bytes = strlen(path);
    while (bytes > 1 && path[bytes - 1] == '/')
        bytes--;
    if (asprintf(&place->path, "%.*s", (int)bytes, path) < 0) place->path = NULL;
    if (asprintf(&place->partial, "%.*s.partial", (int)bytes, path) < 0) place->partial = NULL;
    if (place->path != NULL && place->partial != NULL) return 0;
    return tamis__fail(TAMIS_ENOMEM, "out of memory for the path %s", path);
}

int tamis__backup_place_open(struct tamis__backup_place *place, const char *path)
{
    place->lock = (struct tamis__private_fd){.fd = -1};
    int rc = set_paths(place, path);
    if (rc == 0) rc = check_target(place);
    return rc < 0 ? rc : make_partial(place);
}

/* ---- The step -------------------------------------------------------------------------------- */

/* Marks the older copy, swaps the two, and removes it.  What cannot be removed, the next backup
 * removes. */
static int swap(struct tamis__backup_place *place, int parent_fd)
{
    int older = -1, fd = -1;
    int rc = tamis__open(AT_FDCWD, place->path, O_RDONLY | O_DIRECTORY, 0, place->path, &older);
    if (rc < 0) return rc;
    rc = tamis__inside_make_copy(place->from->root_fd, older, MARK_NAME, place->path, &fd);
    tamis__close(fd);
    if (rc == TAMIS_EEXIST) rc = 0; /* a backup that was killed here had marked it */
    if (rc == 0) rc = tamis__sync_file(older, place->path);
    TAMIS__POINT(TAMIS__POINT_BACKUP_MARKED);
    if (rc == 0) rc = tamis__exchange(place->partial, place->path);
    if (rc == 0) place->marked = false; /* what is at `path` stays */
    TAMIS__POINT(TAMIS__POINT_BACKUP_SWAPPED);
    if (rc == 0) rc = tamis__sync_file(parent_fd, place->path);
    if (rc == 0 && empty_copy(older, place->partial) == 0)
        (void)tamis__remove_directory(AT_FDCWD, place->partial, place->partial);
    tamis__close(older);
    return rc;
}

int tamis__backup_place_finish(struct tamis__backup_place *place, const struct tamis_store *copy)
{
    char *parent = NULL;
    int fd = -1, rc = place->for_use ? 0 : write_note(place);
    if (rc == 0) rc = tamis__sync_file(place->lock.fd, place->partial);
    if (rc == 0 && asprintf(&parent, "%s/..", copy->place.path) < 0) {
        parent = NULL;
        rc = tamis__fail(TAMIS_ENOMEM, "out of memory for the path %s", place->path);
    }
    if (rc == 0) rc = tamis__open(AT_FDCWD, parent, O_RDONLY | O_DIRECTORY, 0, place->path, &fd);
    if (rc == 0 && place->replaces) rc = swap(place, fd);
    if (rc == 0 && !place->replaces)
        rc = tamis__rename(AT_FDCWD, place->partial, AT_FDCWD, place->path, place->path);
    if (rc == 0) place->marked = false;
    if (rc == 0 && !place->replaces) rc = tamis__sync_file(fd, place->path);
    if (rc == 0) (void)tamis__unlink(place->lock.fd, MARK_NAME, place->path);
    tamis__close(fd);
    free(parent);
    return rc;
}

void tamis__backup_place_close(struct tamis__backup_place *place, bool failed)
{
    if (failed && place->marked && empty_copy(place->lock.fd, place->partial) == 0)
        (void)tamis__remove_directory(AT_FDCWD, place->partial, place->partial);
    tamis__private_close(&place->lock);
    tamis_store_close(place->before);
    free(place->path);
    free(place->partial);
}
