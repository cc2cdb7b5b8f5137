/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * calls.c: the calls by which data and names reach the disk, seen on their way.
 *
 * Symbols of the program come before libc's, so LMDB's calls pass here too.  Each is made as it
 * stands, under the disk's lock; the disk is told what it did; and before and after it there is a
 * cut: the process waits while the one that watches takes a picture of what a power cut at this
 * instant could leave.  In a process that is not attached they are libc's calls and nothing else.
 * Nothing is ever synced in fact.
 */
#undef _FILE_OFFSET_BITS /* or these names would stand for others; the 64-bit ones are at the end  \
                          */
#include <errno.h>

#include "disk.h"

#include <err.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static struct disk *disk;

/* ---- The cut --------------------------------------------------------------------------------- */

static void lock(void)
{
    if (disk != NULL) (void)pthread_mutex_lock(&disk->lock);
}

static void unlock(void)
{
    if (disk != NULL) (void)pthread_mutex_unlock(&disk->lock);
}

static void cut(const char *when, const char *verb, const char *what)
{
    char answer;
    const int kept = errno;
    disk_write_back(disk);
    (void)snprintf(disk->site, sizeof disk->site, "%s %s %s", when, verb, what);
    if (syscall(SYS_write, disk->request_fd, "c", 1) != 1 ||
        syscall(SYS_read, disk->reply_fd, &answer, 1) != 1)
        _exit(3); /* nobody watches any more */
    errno = kept;
}

/* What it is called in the report: the path below the root. */
static void cut_at(const char *when, const char *verb, int file)
{
    char path[4096];
    disk_path(disk, file, path, sizeof path);
    cut(when, verb, *path ? path + strlen(disk->root) : "(a file without a name)");
}

void disk_attach(struct disk *to)
{
    disk = to;
}

void disk_detach(void)
{
    disk = NULL;
}

void disk_tick(const char *site)
{
    if (disk == NULL) return;
    lock();
    cut("at", site, "");
    unlock();
}

/* ---- Data ------------------------------------------------------------------------------------ */

/* Locked where the file is of the tree, and a cut was before it; -1: neither. */
static int enter(int fd, const char *verb)
{
    if (disk == NULL) return -1;
    lock();
    const int file = disk_find_fd(disk, fd);
    if (file < 0) {
        unlock();
        return -1;
    }
    disk->calls++;
    cut_at("before", verb, file);
    return file;
}

static void leave(int file, const char *verb)
{
    if (file < 0) return;
    cut_at("after", verb, file);
    unlock();
}

static bool is_deaf(int file, unsigned otherwise)
{
    char path[4096];
    unsigned which = otherwise;
    disk_path(disk, file, path, sizeof path);
    const char *below = path + (*path ? strlen(disk->root) : 0);
    if (S_ISDIR(disk->files[file].mode))
        which = DISK_DEAF_DIRECTORY;
    else if (strstr(below, "/catalog.mdb") != NULL)
        which = DISK_DEAF_CATALOG;
    else if (strstr(below, "/logs/") != NULL)
        which = DISK_DEAF_LOG;
    return (disk->deaf & which) != 0;
}

static long written(int file, int fd, off_t offset, long count, const char *verb)
{
    if (file >= 0 && count > 0 && (fcntl(fd, F_GETFL) & O_DSYNC) != 0 &&
        !is_deaf(file, DISK_DEAF_FILE))
        disk_sync_range(disk, file, fd, (uint64_t)offset, (uint64_t)count);
    leave(file, verb);
    return count;
}

ssize_t pwrite(int fd, const void *buffer, size_t bytes, off_t offset)
{
    const int file = enter(fd, "pwrite");
    return written(file, fd, offset, syscall(SYS_pwrite64, fd, buffer, bytes, offset), "pwrite");
}

ssize_t write(int fd, const void *buffer, size_t bytes)
{
    const int file = enter(fd, "write");
    const off_t offset = file < 0 ? 0 : lseek(fd, 0, SEEK_CUR);
    return written(file, fd, offset, syscall(SYS_write, fd, buffer, bytes), "write");
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    const int file = enter(fd, "writev");
    const off_t offset = file < 0 ? 0 : lseek(fd, 0, SEEK_CUR);
    return written(file, fd, offset, syscall(SYS_writev, fd, parts, count), "writev");
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset)
{
    const int file = enter(fd, "pwritev");
    return written(file, fd, offset, syscall(SYS_pwritev, fd, parts, count, offset, 0), "pwritev");
}

ssize_t copy_file_range(int from, off_t *in, int to, off_t *out, size_t bytes, unsigned flags)
{
    const int file = enter(to, "copy_file_range");
    const ssize_t got = syscall(SYS_copy_file_range, from, in, to, out, bytes, flags);
    leave(file, "copy_file_range");
    return got;
}

int ftruncate(int fd, off_t bytes)
{
    const int file = enter(fd, "ftruncate");
    const int rc = (int)syscall(SYS_ftruncate, fd, bytes);
    leave(file, "ftruncate");
    return rc;
}

int fallocate(int fd, int mode, off_t offset, off_t bytes)
{
    const int file = enter(fd, "fallocate");
    const int rc = (int)syscall(SYS_fallocate, fd, mode, offset, bytes);
    leave(file, "fallocate");
    return rc;
}

int posix_fallocate(int fd, off_t offset, off_t bytes)
{
    const int kept = errno;
    const int rc = fallocate(fd, 0, offset, bytes) == 0 ? 0 : errno;
    errno = kept;
    return rc;
}

/* ---- Syncs ----------------------------------------------------------------------------------- */

static int sync_fd(int fd, const char *verb)
{
    const int file = enter(fd, verb);
    if (file < 0) return 0;
    if (!is_deaf(file, DISK_DEAF_FILE)) {
        if (S_ISDIR(disk->files[file].mode))
            disk_sync_directory(disk, file);
        else
            disk_sync_file(disk, file, fd);
    }
    leave(file, verb);
    return 0;
}

int fsync(int fd)
{
    return sync_fd(fd, "fsync");
}

int fdatasync(int fd)
{
    return sync_fd(fd, "fdatasync");
}

/* Where a mapping is from: path and offset by the kernel's list of them. */
static int open_mapped(const void *address, uint64_t *offset)
{
    char line[4500], path[4096];
    unsigned long from, to;
    unsigned long long at;
    int fd = -1;
    FILE *maps = fopen("/proc/self/maps", "re");
    if (maps == NULL) err(1, "/proc/self/maps");
    while (fgets(line, sizeof line, maps) != NULL) {
        if (sscanf(line, "%lx-%lx %*s %llx %*s %*s %4095[^\n]", &from, &to, &at, path) != 4 ||
            (unsigned long)address < from || (unsigned long)address >= to)
            continue;
        fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
        *offset = at + ((unsigned long)address - from);
        break;
    }
    (void)fclose(maps);
    return fd;
}

int msync(void *address, size_t bytes, int flags)
{
    uint64_t offset = 0;
    if (disk == NULL) return 0;
    const int fd = open_mapped(address, &offset); /* -1: unlinked, nobody will look for it */
    const int file = fd < 0 ? -1 : enter(fd, "msync");
    if (file >= 0 && (flags & MS_SYNC) != 0 &&
        !is_deaf(file, bytes <= DISK_PAGE ? DISK_DEAF_HEADER : DISK_DEAF_SEGMENT))
        disk_sync_range(disk, file, fd, offset, bytes);
    leave(file, "msync");
    if (fd >= 0) (void)close(fd);
    return 0;
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* A name is of a directory and has a last part; the path is cut in two here. */
struct place {
    int directory_fd; /* that the last part is under */
    int directory;    /* the same as the disk knows it, -1: not of the tree */
    bool opened;
    char last[256];
};

static struct place enter_place(int directory_fd, const char *path)
{
    struct place place = {.directory_fd = directory_fd, .directory = -1};
    char head[4096];
    const char *slash = strrchr(path, '/');
    (void)snprintf(place.last, sizeof place.last, "%s", slash ? slash + 1 : path);
    if (slash != NULL || directory_fd == AT_FDCWD) {
        (void)snprintf(head, sizeof head, "%.*s", slash ? (int)(slash - path) : 1,
                       slash ? path : ".");
        place.directory_fd = (int)syscall(SYS_openat, directory_fd, *head ? head : "/",
                                          O_PATH | O_DIRECTORY | O_CLOEXEC);
        place.opened = place.directory_fd >= 0;
    }
    place.directory = disk_find_fd(disk, place.directory_fd);
    return place;
}

static void leave_place(const struct place *place)
{
    const int kept = errno;
    if (place->opened) (void)close(place->directory_fd);
    errno = kept;
}

/* The file that has the name now; -1: none. */
static int named(const struct place *place)
{
    struct stat status;
    if (fstatat(place->directory_fd, place->last, &status, AT_SYMLINK_NOFOLLOW) != 0) return -1;
    return disk_find(disk, &status);
}

static void name_cut(const char *when, const char *verb, const struct place *place)
{
    if (place->directory < 0) return;
    disk->calls += *when == 'b';
    cut(when, verb, place->last);
}

static void made(const struct place *place, const char *verb)
{
    struct stat status;
    if (place->directory < 0 ||
        fstatat(place->directory_fd, place->last, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    disk_made(disk, place->directory, place->last, &status);
    name_cut("after", verb, place);
}

static int open_seen(int directory_fd, const char *path, int flags, mode_t mode)
{
    if (disk == NULL || (flags & O_CREAT) == 0)
        return (int)syscall(SYS_openat, directory_fd, path, flags, mode);
    lock();
    const struct place place = enter_place(directory_fd, path);
    const bool is_new = place.directory >= 0 && named(&place) < 0;
    if (is_new) name_cut("before", "open", &place);
    const int fd = (int)syscall(SYS_openat, directory_fd, path, flags, mode);
    if (is_new && fd >= 0) made(&place, "open");
    leave_place(&place);
    unlock();
    return fd;
}

static mode_t mode_of(int flags, va_list list)
{
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(list, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    const mode_t mode = mode_of(flags, list);
    va_end(list);
    return open_seen(AT_FDCWD, path, flags, mode);
}

int openat(int directory_fd, const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    const mode_t mode = mode_of(flags, list);
    va_end(list);
    return open_seen(directory_fd, path, flags, mode);
}

int mkdirat(int directory_fd, const char *path, mode_t mode)
{
    if (disk == NULL) return (int)syscall(SYS_mkdirat, directory_fd, path, mode);
    lock();
    const struct place place = enter_place(directory_fd, path);
    name_cut("before", "mkdir", &place);
    const int rc = (int)syscall(SYS_mkdirat, directory_fd, path, mode);
    if (rc == 0) made(&place, "mkdir");
    leave_place(&place);
    unlock();
    return rc;
}

int mkdir(const char *path, mode_t mode)
{
    return mkdirat(AT_FDCWD, path, mode);
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
    if (disk == NULL) return (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, 0);
    lock();
    const struct place a = enter_place(from_fd, from), b = enter_place(to_fd, to);
    const int file = named(&a);
    name_cut("before", "rename", &b);
    disk_keep_last(disk, b.directory_fd, b.last);
    const int rc = (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, 0);
    if (rc == 0 && file >= 0) disk_renamed(disk, file, a.directory, a.last, b.directory, b.last);
    name_cut("after", "rename", &b);
    leave_place(&a);
    leave_place(&b);
    unlock();
    return rc;
}

int rename(const char *from, const char *to)
{
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
    if (disk == NULL) return (int)syscall(SYS_linkat, from_fd, from, to_fd, to, flags);
    lock();
    const struct place a = enter_place(from_fd, from), b = enter_place(to_fd, to);
    const int file = named(&a);
    name_cut("before", "link", &b);
    const int rc = (int)syscall(SYS_linkat, from_fd, from, to_fd, to, flags);
    if (rc == 0 && file >= 0) disk_renamed(disk, file, -1, "", b.directory, b.last);
    name_cut("after", "link", &b);
    leave_place(&a);
    leave_place(&b);
    unlock();
    return rc;
}

int unlinkat(int directory_fd, const char *path, int flags)
{
    if (disk == NULL) return (int)syscall(SYS_unlinkat, directory_fd, path, flags);
    lock();
    const struct place place = enter_place(directory_fd, path);
    const int file = named(&place);
    name_cut("before", "unlink", &place);
    if (file >= 0) disk_keep_last(disk, place.directory_fd, place.last);
    const int rc = (int)syscall(SYS_unlinkat, directory_fd, path, flags);
    if (rc == 0 && file >= 0) disk_renamed(disk, file, place.directory, place.last, -1, "");
    name_cut("after", "unlink", &place);
    leave_place(&place);
    unlock();
    return rc;
}

int unlink(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

int rmdir(const char *path)
{
    return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

/* ---- The same by other names: off_t has 64 bits here ----------------------------------------- */

#define ALSO(name) __attribute__((alias(name)))
ssize_t pwrite64(int fd, const void *buffer, size_t bytes, off64_t offset) ALSO("pwrite");
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) ALSO("pwritev");
int ftruncate64(int fd, off64_t bytes) ALSO("ftruncate");
int fallocate64(int fd, int mode, off64_t offset, off64_t bytes) ALSO("fallocate");
int posix_fallocate64(int fd, off64_t offset, off64_t bytes) ALSO("posix_fallocate");
int open64(const char *path, int flags, ...) ALSO("open");
int openat64(int directory_fd, const char *path, int flags, ...) ALSO("openat");
