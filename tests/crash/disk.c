/* SPDX-License-Identifier: BSD-2-Clause */
/* disk.c: see disk.h.  System calls are made by number, as calls.c stands before libc's functions.
 * */
#include "disk.h"

#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "random.h"

struct disk *disk_new(size_t arena_bytes)
{
    pthread_mutexattr_t attributes;
    const size_t head = (sizeof(struct disk) + DISK_PAGE - 1) / DISK_PAGE * DISK_PAGE;
    struct disk *disk = mmap(NULL, head + arena_bytes, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (disk == MAP_FAILED) err(1, "mmap of %zu bytes", arena_bytes);
    disk->arena = (uint8_t *)disk + head;
    disk->arena_bytes = arena_bytes;
    (void)pthread_mutexattr_init(&attributes);
    (void)pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    (void)pthread_mutex_init(&disk->lock, &attributes);
    return disk;
}

/* ---- Contents -------------------------------------------------------------------------------- */

static void make_room(struct disk *disk, struct disk_contents *contents, uint64_t bytes)
{
    if (contents->room >= bytes) return;
    const uint64_t room = (bytes + bytes / 2 + DISK_PAGE - 1) / DISK_PAGE * DISK_PAGE;
    if (disk->arena_used + room > disk->arena_bytes) errx(1, "the simulator's memory is used up");
    uint8_t *data = disk->arena + disk->arena_used;
    disk->arena_used += room;
    if (contents->bytes > 0) memcpy(data, contents->data, contents->bytes);
    contents->data = data;
    contents->room = room;
}

/* The file again, to be read: LMDB writes through a descriptor that cannot. */
static int open_again(int fd)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const int own = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (own < 0) err(1, "the simulator cannot open a file again");
    return own;
}

static void read_at(int fd, uint8_t *data, uint64_t bytes, uint64_t offset)
{
    for (uint64_t done = 0; done < bytes;) {
        const long got = syscall(SYS_pread64, fd, data + done, bytes - done, offset + done);
        if (got < 0) err(1, "the simulator cannot read a file");
        if (got == 0) memset(data + done, 0, bytes - done);
        done += got == 0 ? bytes - done : (uint64_t)got;
    }
}

static uint64_t size_of(int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0) err(1, "the simulator cannot examine a file");
    return (uint64_t)status.st_size;
}

void disk_read(struct disk *disk, int fd, struct disk_contents *into)
{
    const uint64_t bytes = size_of(fd);
    make_room(disk, into, bytes);
    read_at(fd, into->data, bytes, 0);
    into->bytes = bytes;
    into->is_there = true;
}

void disk_sync_file(struct disk *disk, int file, int fd)
{
    const int own = open_again(fd);
    disk_read(disk, own, &disk->files[file].durable);
    disk->files[file].between.is_there = false;
    (void)close(own);
}

/* What was written back between is older than these pages, so they are brought up there too. */
void disk_sync_range(struct disk *disk, int file, int fd, uint64_t offset, uint64_t count)
{
    struct disk_contents *both[] = {&disk->files[file].durable, &disk->files[file].between};
    const uint64_t size = size_of(fd), from = offset / DISK_PAGE * DISK_PAGE;
    const int own = open_again(fd);
    uint64_t to = (offset + count + DISK_PAGE - 1) / DISK_PAGE * DISK_PAGE;
    if (to > size) to = size;
    for (size_t i = 0; i < 2 && from < to; i++) {
        struct disk_contents *contents = both[i];
        if (i == 1 && !contents->is_there) continue;
        make_room(disk, contents, to);
        if (contents->bytes < to) memset(contents->data + contents->bytes, 0, to - contents->bytes);
        if (contents->bytes < to) contents->bytes = to;
        read_at(own, contents->data + from, to - from, from);
    }
    (void)close(own);
}

void disk_write_back(struct disk *disk)
{
    char path[4096];
    if (disk->file_count == 0 || random_below(&disk->random, 6) != 0) return;
    const int file = (int)random_below(&disk->random, (uint64_t)disk->file_count);
    if (S_ISDIR(disk->files[file].mode)) return;
    disk_path(disk, file, path, sizeof path);
    if (*path == '\0') return;
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    disk_read(disk, fd, &disk->files[file].between);
    (void)close(fd);
}

void disk_keep_last(struct disk *disk, int directory_fd, const char *name)
{
    struct stat status;
    const int fd = (int)syscall(SYS_openat, directory_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return;
    const int file = fstat(fd, &status) == 0 ? disk_find(disk, &status) : -1;
    if (file >= 0 && S_ISREG(status.st_mode)) disk_read(disk, fd, &disk->files[file].last);
    (void)close(fd);
}

/* ---- Files and names ------------------------------------------------------------------------- */

int disk_find(const struct disk *disk, const struct stat *status)
{
    for (int i = disk->file_count; i-- > 0;) /* the newest: an inode's number may come again */
        if (disk->files[i].inode == status->st_ino && disk->files[i].device == status->st_dev)
            return i;
    return -1;
}

int disk_find_fd(const struct disk *disk, int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 ? disk_find(disk, &status) : -1;
}

static int add_file(struct disk *disk, const struct stat *status)
{
    if (disk->file_count == DISK_FILES_MAX) errx(1, "the simulator has too many files");
    disk->files[disk->file_count] = (struct disk_file){
        .device = status->st_dev, .inode = status->st_ino, .mode = status->st_mode};
    return disk->file_count++;
}

static void set_entry(struct disk_entry *entry, int directory, const char *name, int file)
{
    if (strlen(name) >= sizeof entry->name) errx(1, "the simulator has no room for name %s", name);
    *entry = (struct disk_entry){.directory = directory, .file = file};
    (void)strcpy(entry->name, name);
}

static bool same_name(const struct disk_entry *a, const struct disk_entry *b)
{
    return a->directory >= 0 && a->directory == b->directory && strcmp(a->name, b->name) == 0;
}

/* A list of entries with one change made to it. */
static int apply(struct disk_entry *entries, int count, const struct disk_change *change)
{
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (!same_name(&entries[i], &change->from) && !same_name(&entries[i], &change->to))
            entries[kept++] = entries[i];
    if (change->to.directory >= 0) {
        if (kept == DISK_ENTRIES_MAX) errx(1, "the simulator has too many names");
        entries[kept++] = change->to;
    }
    return kept;
}

int disk_entries_after(const struct disk *disk, const bool *kept, struct disk_entry *entries)
{
    int count = disk->entry_count;
    memcpy(entries, disk->entries, (size_t)count * sizeof *entries);
    for (int i = 0; i < disk->change_count; i++)
        if (kept == NULL || kept[i]) count = apply(entries, count, &disk->changes[i]);
    return count;
}

void disk_path(const struct disk *disk, int file, char *path, size_t bytes)
{
    struct disk_entry entries[DISK_ENTRIES_MAX];
    char so_far[4096] = "", next[4096];
    const int count = disk_entries_after(disk, NULL, entries);
    *path = '\0';
    while (file != 0) {
        int at = 0;
        while (at < count && entries[at].file != file)
            at++;
        if (at == count) return;
        (void)snprintf(next, sizeof next, "/%s%.3900s", entries[at].name, so_far);
        (void)strcpy(so_far, next);
        file = entries[at].directory;
    }
    (void)snprintf(path, bytes, "%s%s", disk->root, so_far);
}

void disk_renamed(struct disk *disk, int file, int from, const char *from_name, int to,
                  const char *to_name)
{
    if (disk->change_count == DISK_ENTRIES_MAX) errx(1, "the simulator has too many changes");
    struct disk_change *change = &disk->changes[disk->change_count++];
    set_entry(&change->from, from, from_name, file);
    set_entry(&change->to, to, to_name, file);
}

void disk_made(struct disk *disk, int directory, const char *name, const struct stat *status)
{
    disk_renamed(disk, add_file(disk, status), -1, "", directory, name);
}

static bool share_a_name(const struct disk_change *a, const struct disk_change *b)
{
    return same_name(&a->from, &b->from) || same_name(&a->from, &b->to) ||
           same_name(&a->to, &b->from) || same_name(&a->to, &b->to);
}

/* Its changes are durable, and with them what they rest on: the earlier ones of the same names. */
void disk_sync_directory(struct disk *disk, int directory)
{
    bool settled[DISK_ENTRIES_MAX] = {false};
    int left = 0;
    for (int i = disk->change_count; i-- > 0;) {
        const struct disk_change *change = &disk->changes[i];
        settled[i] |= change->from.directory == directory || change->to.directory == directory;
        for (int j = 0; settled[i] && j < i; j++)
            settled[j] |= share_a_name(change, &disk->changes[j]);
    }
    for (int i = 0; i < disk->change_count; i++) {
        if (settled[i])
            disk->entry_count = apply(disk->entries, disk->entry_count, &disk->changes[i]);
        else
            disk->changes[left++] = disk->changes[i];
    }
    disk->change_count = left;
}

/* ---- The beginning --------------------------------------------------------------------------- */

/* Trees of a store are a few levels deep. */
static void scan(struct disk *disk, int directory, const char *path) /* NOLINT(misc-no-recursion) */
{
    char below[4096];
    struct stat status;
    DIR *dir = opendir(path);
    if (dir == NULL) err(1, "opendir %s", path);
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        (void)snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
        if (lstat(below, &status) != 0) err(1, "stat %s", below);
        int file = disk_find(disk, &status);
        if (file < 0) file = add_file(disk, &status);
        set_entry(&disk->entries[disk->entry_count++], directory, entry->d_name, file);
        if (S_ISDIR(status.st_mode)) {
            scan(disk, file, below);
            continue;
        }
        const int fd = (int)syscall(SYS_openat, AT_FDCWD, below, O_RDONLY | O_CLOEXEC);
        if (fd < 0) err(1, "open %s", below);
        disk_sync_file(disk, file, fd);
        (void)close(fd);
    }
    (void)closedir(dir);
}

void disk_begin(struct disk *disk, const char *root, unsigned deaf, uint64_t seed)
{
    struct stat status;
    disk->file_count = disk->entry_count = disk->change_count = 0;
    disk->arena_used = 0;
    disk->calls = 0;
    disk->deaf = deaf;
    disk->random = seed;
    (void)snprintf(disk->root, sizeof disk->root, "%s", root);
    if (stat(root, &status) != 0) err(1, "stat %s", root);
    (void)add_file(disk, &status);
    scan(disk, 0, root);
}
