/* SPDX-License-Identifier: BSD-2-Clause */
/* picture.c: see picture.h. */
#include "picture.h"

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "random.h"

#define SECTOR 512u

const char *const picture_names[PICTURE_KINDS] = {"all", "none", "names", "data", "mix", "torn"};

/* What is being laid out. */
struct picture {
    struct disk *disk;
    enum picture_kind kind;
    uint64_t random;
    unsigned choices;
    struct disk_contents now, out; /* on the heap */
    struct disk_entry entries[DISK_ENTRIES_MAX];
    int entry_count;
    char *first_path[DISK_FILES_MAX]; /* where a file was laid out: a second name is a link */
};

/* ---- Names ----------------------------------------------------------------------------------- */

static bool touches(const struct disk_entry *a, const struct disk_entry *b)
{
    return a->directory >= 0 && a->directory == b->directory && strcmp(a->name, b->name) == 0;
}

static bool rests_on(const struct disk_change *late, const struct disk_change *early)
{
    return touches(&late->from, &early->from) || touches(&late->from, &early->to) ||
           touches(&late->to, &early->from) || touches(&late->to, &early->to);
}

/* In the order of one journal; of a journal for each directory; or any that rests on what is kept.
 * */
static void choose_names(struct picture *picture, bool *kept)
{
    const struct disk *disk = picture->disk;
    const uint64_t rule = random_below(&picture->random, 3);
    const int last = (int)random_below(&picture->random, (uint64_t)disk->change_count + 1);
    for (int i = 0; i < disk->change_count; i++) {
        kept[i] = rule == 0 ? i < last : random_below(&picture->random, 4) != 0;
        for (int j = 0; j < i; j++) {
            const struct disk_change *late = &disk->changes[i], *early = &disk->changes[j];
            const bool same_directory =
                rule == 1 && (late->to.directory >= 0 ? late->to : late->from).directory ==
                                 (early->to.directory >= 0 ? early->to : early->from).directory;
            if (!kept[j] && (same_directory || rests_on(late, early))) kept[i] = false;
        }
    }
}

static void settle_names(struct picture *picture)
{
    bool kept[DISK_ENTRIES_MAX];
    const struct disk *disk = picture->disk;
    const bool all = picture->kind == PICTURE_ALL || picture->kind == PICTURE_NAMES;
    for (int i = 0; i < disk->change_count; i++)
        kept[i] = all;
    if (picture->kind == PICTURE_MIX || picture->kind == PICTURE_TORN) choose_names(picture, kept);
    picture->entry_count = disk_entries_after(disk, kept, picture->entries);
    picture->choices += (unsigned)disk->change_count;
}

/* ---- Contents -------------------------------------------------------------------------------- */

/* What the file has now: in its place, or as it was when it lost its last name. */
static void read_now(struct picture *picture, int file)
{
    char path[4096];
    struct stat status;
    picture->now.bytes = 0;
    disk_path(picture->disk, file, path, sizeof path);
    const int fd = *path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    const struct disk_contents *last = &picture->disk->files[file].last;
    if (fd >= 0 && fstat(fd, &status) != 0) err(1, "stat %s", path);
    const uint64_t bytes = fd >= 0 ? (uint64_t)status.st_size : last->bytes;
    if (picture->now.room < bytes) {
        picture->now.data = realloc(picture->now.data, bytes);
        picture->now.room = bytes;
        if (picture->now.data == NULL) errx(1, "out of memory");
    }
    picture->now.bytes = bytes;
    if (fd < 0 && bytes > 0) memcpy(picture->now.data, last->data, bytes);
    if (fd < 0) return;
    if (pread(fd, picture->now.data, bytes, 0) != (ssize_t)bytes) err(1, "read %s", path);
    (void)close(fd);
}

static void copy_piece(const struct disk_contents *from, uint64_t offset, uint64_t bytes,
                       uint8_t *to)
{
    const uint64_t have = from->bytes > offset ? from->bytes - offset : 0;
    const uint64_t copied = have < bytes ? have : bytes;
    if (copied > 0) memcpy(to, from->data + offset, copied);
    memset(to + copied, 0, bytes - copied);
}

static const struct disk_contents *choose(struct picture *picture, const struct disk_file *file)
{
    const uint64_t which = random_below(&picture->random, file->between.is_there ? 3 : 2);
    return which == 0 ? &file->durable : which == 1 ? &picture->now : &file->between;
}

static void mix_page(struct picture *picture, const struct disk_file *file, uint64_t offset,
                     uint64_t bytes, uint8_t *to)
{
    uint8_t durable[DISK_PAGE];
    copy_piece(&file->durable, offset, bytes, durable);
    copy_piece(&picture->now, offset, bytes, to);
    if (memcmp(durable, to, bytes) == 0) return; /* all the same, but for what was between */
    picture->choices++;
    if (picture->kind == PICTURE_ALL || picture->kind == PICTURE_DATA) return;
    if (picture->kind == PICTURE_NONE || picture->kind == PICTURE_NAMES) {
        memcpy(to, durable, bytes);
        return;
    }
    const bool torn = picture->kind == PICTURE_TORN && random_below(&picture->random, 2) == 0;
    const uint64_t piece = torn ? SECTOR : bytes;
    for (uint64_t at = 0; at < bytes; at += piece)
        copy_piece(choose(picture, file), offset + at, bytes - at < piece ? bytes - at : piece,
                   to + at);
}

static void mix_contents(struct picture *picture, int index)
{
    const struct disk_file *file = &picture->disk->files[index];
    struct disk_contents *out = &picture->out;
    read_now(picture, index);
    out->bytes = picture->now.bytes;
    if (picture->kind == PICTURE_NONE || picture->kind == PICTURE_NAMES)
        out->bytes = file->durable.bytes;
    if (picture->kind == PICTURE_MIX || picture->kind == PICTURE_TORN)
        out->bytes = choose(picture, file)->bytes;
    picture->choices += picture->now.bytes != file->durable.bytes;
    if (out->room < out->bytes) {
        out->data = realloc(out->data, out->bytes);
        out->room = out->bytes;
        if (out->data == NULL) errx(1, "out of memory");
    }
    for (uint64_t at = 0; at < out->bytes; at += DISK_PAGE)
        mix_page(picture, file, at, out->bytes - at < DISK_PAGE ? out->bytes - at : DISK_PAGE,
                 out->data + at);
}

/* ---- Laying out ------------------------------------------------------------------------------ */

static void lay_out_file(struct picture *picture, int index, const char *path)
{
    if (picture->first_path[index] != NULL) {
        if (link(picture->first_path[index], path) != 0) err(1, "link %s", path);
        return;
    }
    mix_contents(picture, index);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || fchmod(fd, picture->disk->files[index].mode & 07777) != 0) err(1, "%s", path);
    if (picture->out.bytes > 0 &&
        pwrite(fd, picture->out.data, picture->out.bytes, 0) != (ssize_t)picture->out.bytes)
        err(1, "write %s", path);
    (void)close(fd);
    picture->first_path[index] = strdup(path);
}

static void lay_out(struct picture *picture, int directory, /* NOLINT(misc-no-recursion) */
                    const char *path)
{
    char below[4096];
    if (mkdir(path, 0777) != 0) err(1, "mkdir %s", path);
    for (int i = 0; i < picture->entry_count; i++) {
        const struct disk_entry *entry = &picture->entries[i];
        if (entry->directory != directory) continue;
        (void)snprintf(below, sizeof below, "%s/%s", path, entry->name);
        if (S_ISDIR(picture->disk->files[entry->file].mode))
            lay_out(picture, entry->file, below);
        else
            lay_out_file(picture, entry->file, below);
    }
}

unsigned picture_take(struct disk *disk, enum picture_kind kind, uint64_t seed, const char *to)
{
    struct picture *picture = calloc(1, sizeof *picture);
    if (picture == NULL) errx(1, "out of memory");
    picture->disk = disk;
    picture->kind = kind;
    picture->random = seed;
    settle_names(picture);
    lay_out(picture, 0, to);
    const unsigned choices = picture->choices;
    for (int i = 0; i < DISK_FILES_MAX; i++)
        free(picture->first_path[i]);
    free(picture->now.data);
    free(picture->out.data);
    free(picture);
    return choices;
}
