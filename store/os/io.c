/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io.c: system calls with errors that say what to do.
 *
 * errno is read here and in the other files of this folder, in the line after the call.
 * Each wrapper asks tamis__may_fail() first, so that a test can make any of them fail as
 * the kernel would.
 */
#include "os/io.h"
#include "os/denied.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

/* A file is opened so often while something passing is in the way: at first at once, then with
 * pauses, a fifth of a second in all. */
#define AGAIN_MAX 100
#define AGAIN_AT_ONCE 10
#define AGAIN_PAUSE_US 2000u

#ifdef TAMIS_TEST_POINTS
int (*tamis__io_hook)(const char *verb, const char *what);
bool tamis__io_no_openat2;
#define NO_OPENAT2 tamis__io_no_openat2
#else
#define NO_OPENAT2 false
#endif

/*
 * O_NOFOLLOW alone looks at the last part of a name.  That is enough where the kernel is older than
 * openat2(2), or a sandbox denies it: names beneath a directory have only one part here.
 */
static int open_beneath(int dir_fd, const char *name, int flags, unsigned mode)
{
    struct open_how how = {.flags = (unsigned)flags,
                           .mode = flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY)) ? mode : 0,
                           .resolve =
                               RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    if (!NO_OPENAT2) {
        const long got = syscall(SYS_openat2, dir_fd, name, &how, sizeof how);
        if (got >= 0 || (errno != ENOSYS && errno != EPERM)) return (int)got;
    }
    return openat(dir_fd, name, flags, (mode_t)mode);
}

/* After a failure.  EAGAIN: something was renamed meanwhile, or somebody has a lease, which he
 * gives back as soon as he runs, or will not let go. */
static bool may_open_again(int *again)
{
    if (errno == EINTR) return true;
    if (errno != EAGAIN || (*again)++ >= AGAIN_MAX) return false;
    if (*again > AGAIN_AT_ONCE) tamis__pause_us(AGAIN_PAUSE_US);
    return true;
}

static int rights_of(int flags)
{
    if (flags & O_CREAT) return TAMIS__MAKES;
    const int mode = flags & O_ACCMODE;
    return mode == O_RDWR ? R_OK | W_OK : mode == O_WRONLY ? W_OK : R_OK;
}

int tamis__open(int dir_fd, const char *name, int flags, unsigned mode, const char *what, int *fd)
{
    if (tamis__may_fail("open", what)) return tamis__fail_errno(errno, "open", what);
    int got, again = 0, error = tamis__fill_standard();
    if (error != 0) return tamis__fail_errno(error, "open", what);
    flags |= O_CLOEXEC | O_NOFOLLOW | O_NOCTTY |
             O_NONBLOCK; /* a pipe is to be refused, not waited for */
    do {
        got = dir_fd == AT_FDCWD ? openat(dir_fd, name, flags, (mode_t)mode)
                                 : open_beneath(dir_fd, name, flags, mode);
    } while (got < 0 && may_open_again(&again));
    if (got < 0) return tamis__fail_denied(errno, dir_fd, name, rights_of(flags), "open", what);
    error = tamis__leave_standard(&got);
    if (error != 0) return tamis__fail_errno(error, "open", what);
    *fd = got;
    return 0;
}

int tamis__exists(int dir_fd, const char *name, const char *what)
{
    struct stat st;
    if (tamis__may_fail("stat", what)) return tamis__fail_errno(errno, "look for", what);
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0) return 1;
    return errno == ENOENT ? 0 : tamis__fail_denied(errno, dir_fd, name, X_OK, "look for", what);
}

void tamis__close(int fd)
{
    if (fd >= 0) (void)close(fd); /* nothing is buffered: data was synced, or is the kernel's */
}

static int64_t ns_of(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct tamis__file_info info_of(const struct stat *st)
{
    return (struct tamis__file_info){.bytes = (uint64_t)st->st_size,
                                     .allocated_bytes = (uint64_t)st->st_blocks * 512,
                                     .is_regular = S_ISREG(st->st_mode),
                                     .is_directory = S_ISDIR(st->st_mode),
                                     .mode = st->st_mode & 07777,
                                     .owner = st->st_uid,
                                     .group = st->st_gid,
                                     .device = st->st_dev,
                                     .inode = st->st_ino,
                                     .written_ns = ns_of(st->st_mtim),
                                     .changed_ns = ns_of(st->st_ctim),
                                     .links = (uint64_t)st->st_nlink};
}

int tamis__file_info(int fd, const char *what, struct tamis__file_info *info)
{
    struct stat st;
    if (tamis__may_fail("stat", what) || fstat(fd, &st) != 0)
        return tamis__fail_errno(errno, "examine", what);
    *info = info_of(&st);
    return 0;
}

int tamis__named_info(int dir_fd, const char *name, const char *what, struct tamis__file_info *info)
{
    struct stat st;
    if (tamis__may_fail("stat", what)) return tamis__fail_errno(errno, "examine", what);
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? TAMIS_ENOTFOUND
                               : tamis__fail_denied(errno, dir_fd, name, X_OK, "examine", what);
    *info = info_of(&st);
    return 0;
}

int tamis__set_written(int fd, int64_t ns, const char *what)
{
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT},
                                      {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000}};
    if (!tamis__may_fail("time", what) && futimens(fd, times) == 0) return 0;
    return tamis__fail_errno(errno, "set the time of", what);
}

int tamis__read_at(int fd, void *buffer, size_t bytes, uint64_t offset, const char *what)
{
    if (tamis__may_fail("read", what)) return tamis__fail_errno(errno, "read", what);
    for (size_t done = 0; done < bytes;) {
        const ssize_t got = pread(fd, (char *)buffer + done, bytes - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return tamis__fail_errno(errno, "read", what);
        if (got == 0)
            return tamis__fail_at(
                TAMIS_ECORRUPT, what,
                "%s is truncated: it ends before byte %llu; restore it from a copy", what,
                (unsigned long long)(offset + bytes));
        done += (size_t)got;
    }
    return 0;
}

int tamis__write_at(int fd, const void *buffer, size_t bytes, uint64_t offset, const char *what)
{
    if (tamis__may_fail("write", what)) return tamis__fail_errno(errno, "write", what);
    for (size_t done = 0; done < bytes;) {
        const ssize_t put =
            pwrite(fd, (const char *)buffer + done, bytes - done, (off_t)(offset + done));
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return tamis__fail_errno(errno, "write", what);
        done += (size_t)put;
    }
    return 0;
}

bool tamis__read_hint(int fd, void *buffer, size_t bytes, uint64_t offset)
{
    return !tamis__may_fail("read hint", "") &&
           pread(fd, buffer, bytes, (off_t)offset) == (ssize_t)bytes;
}

bool tamis__write_hint(int fd, const void *buffer, size_t bytes, uint64_t offset)
{
    return !tamis__may_fail("write hint", "") &&
           pwrite(fd, buffer, bytes, (off_t)offset) == (ssize_t)bytes;
}

/* Copies through memory, where the kernel cannot copy between these files. */
static int copy_by_hand(int from, int to, uint64_t offset, uint64_t bytes, const char *what)
{
    char buffer[32768];
    int rc = 0;
    for (uint64_t done = 0; rc == 0 && done < bytes; done += sizeof buffer) {
        const size_t now = bytes - done < sizeof buffer ? (size_t)(bytes - done) : sizeof buffer;
        rc = tamis__read_at(from, buffer, now, offset + done, what);
        if (rc == 0) rc = tamis__write_at(to, buffer, now, offset + done, what);
    }
    return rc;
}

int tamis__copy_range(int from, int to, uint64_t offset, uint64_t bytes, const char *what)
{
    if (tamis__may_fail("copy", what)) return tamis__fail_errno(errno, "copy", what);
    for (uint64_t done = 0; done < bytes;) {
        off_t in = (off_t)(offset + done), out = in;
        const ssize_t got = copy_file_range(from, &in, to, &out, (size_t)(bytes - done), 0);
        const int number = errno;
        if (got < 0 && number == EINTR) continue;
        if (got < 0 && (number == EXDEV || number == EINVAL || number == ENOSYS ||
                        number == EOPNOTSUPP || number == EPERM))
            return copy_by_hand(from, to, offset + done, bytes - done, what);
        if (got < 0) return tamis__fail_errno(number, "copy", what);
        if (got == 0) /* copy_by_hand() says that the file has ended */
            return copy_by_hand(from, to, offset + done, bytes - done, what);
        done += (uint64_t)got;
    }
    return 0;
}

static int examine_file_system(int fd, const char *what, struct statfs *fs)
{
    int error = tamis__may_fail("statfs", what);
    while (error == 0 || error == EINTR) {
        if (fstatfs(fd, fs) == 0) return 0;
        error = errno;
    }
    return tamis__fail_errno(error, "examine the file system of", what);
}

int tamis__file_system_type(int fd, const char *what, uint32_t *type)
{
    struct statfs fs;
    const int rc = examine_file_system(fd, what, &fs);
    if (rc == 0) *type = (uint32_t)fs.f_type;
    return rc;
}

int tamis__disk_room(int fd, const char *what, uint64_t *bytes)
{
    struct statfs fs;
    const int rc = examine_file_system(fd, what, &fs);
    if (rc == 0) *bytes = (uint64_t)fs.f_bavail * (uint64_t)fs.f_frsize;
    return rc;
}

static int fail_no_room(uint64_t needed, uint64_t available, const char *what, const char *mend)
{
    char need[TAMIS__SIZE_BYTES], have[TAMIS__SIZE_BYTES];
    return tamis__fail_at(
        TAMIS_ENOSPACE, what,
        "%s needs %s (%llu bytes), but its file system has %s (%llu bytes) free; %s", what,
        tamis__size_text(need, (double)needed), (unsigned long long)needed,
        tamis__size_text(have, (double)available), (unsigned long long)available, mend);
}

int tamis__check_room(int dir_fd, uint64_t bytes, const char *what)
{
    uint64_t available = 0;
    const int rc = tamis__disk_room(dir_fd, what, &available);
    if (rc < 0) return rc;
    return bytes > available
               ? fail_no_room(bytes, available, what,
                              "ask for fewer keys or a greater rate, or free some room")
               : 0;
}

int tamis__allocate(int fd, uint64_t bytes, const char *what)
{
    uint64_t available = 0;
    int error = tamis__may_fail("allocate", what);
    while (error == 0 || error == EINTR) {
        error = posix_fallocate(fd, 0, (off_t)bytes); /* returns the number, leaves errno alone */
        if (error == 0) return 0;
    }
    if (error == ENOSPC && tamis__disk_room(fd, what, &available) == 0)
        return fail_no_room(bytes, available, what, "free some room, and try again");
    return tamis__fail_errno(error, "allocate the blocks of", what);
}

/* Reserves blocks, again after signals, and returns 0 or the error number.  Not posix_fallocate():
 * where the file system cannot do it, that reads a byte of each block and writes it back, and would
 * undo what other processes set in between. */
static int reserve_blocks(int fd, uint64_t from, uint64_t bytes, const char *what)
{
    int error = tamis__may_fail("allocate", what);
    while (error == 0 || error == EINTR) {
        if (fallocate(fd, 0, (off_t)from, (off_t)bytes) == 0) return 0;
        error = errno;
    }
    return error;
}

int tamis__reserve(int fd, uint64_t from, uint64_t bytes, const char *what, const char *mend)
{
    char need[TAMIS__SIZE_BYTES], have[TAMIS__SIZE_BYTES];
    uint64_t available = 0;
    const int error = reserve_blocks(fd, from, bytes, what);
    if (error == 0 || error == EOPNOTSUPP) return 0; /* the write will find out */
    if (error == ENOSPC && tamis__disk_room(fd, what, &available) == 0)
        return tamis__fail_at(TAMIS_ENOSPACE, what,
                              "%s needs %s more, but its file system has %s free; free some room%s",
                              what, tamis__size_text(need, (double)bytes),
                              tamis__size_text(have, (double)available), mend);
    return tamis__fail_errno(error, "allocate the blocks of", what);
}

int tamis__fill_holes(int fd, uint64_t bytes, const char *what)
{
    const int error = reserve_blocks(fd, 0, bytes, what);
    if (error == 0 || error == EOPNOTSUPP) return 0;
    return tamis__fail_errno(error, "allocate the blocks of", what);
}

/* Where the file system has no fallocate(), zeros are written, by one process at a time, and never
 * over bytes that are there. */
static int extend_by_zeros(int fd, uint64_t to, const char *what)
{
    static const char zeros[65536];
    struct tamis__file_info info = {0};
    int rc = tamis__lock(fd, TAMIS__LOCK_EXCLUSIVE, what);
    if (rc < 0) return rc;
    rc = tamis__file_info(fd, what, &info);
    for (uint64_t at = info.bytes; rc == 0 && at < to; at += sizeof zeros)
        rc = tamis__write_at(fd, zeros, to - at < sizeof zeros ? (size_t)(to - at) : sizeof zeros,
                             at, what);
    tamis__unlock(fd);
    return rc;
}

int tamis__extend(int fd, uint64_t from, uint64_t to, const char *what)
{
    char need[TAMIS__SIZE_BYTES];
    const int error = reserve_blocks(fd, from, to - from, what);
    if (error == 0) return 0;
    if (error == EOPNOTSUPP) return extend_by_zeros(fd, to, what);
    if (error == ENOSPC || error == EDQUOT)
        return tamis__fail_at(
            TAMIS_ENOSPACE, what,
            "%s needs %s more for counters that have outgrown their bits, and the disk "
            "has no room; free some",
            what, tamis__size_text(need, (double)(to - from)));
    return tamis__fail_errno(error, "allocate the blocks of", what);
}

/* A sync that was interrupted says nothing about the disk (FUSE does that), so it is made again. */
static int sync_by(int (*sync)(int fd), int fd, int error, const char *what)
{
    while (error == 0 || error == EINTR) {
        if (sync(fd) == 0) return 0;
        error = errno;
    }
    return tamis__fail_errno(error, "write to the disk", what);
}

int tamis__sync_file(int fd, const char *what)
{
    return sync_by(fsync, fd, tamis__may_fail("fsync", what), what);
}

int tamis__sync_data(int fd, const char *what)
{
    return sync_by(fdatasync, fd, tamis__may_fail("fdatasync", what), what);
}

void tamis__start_writing(int fd, uint64_t offset, uint64_t bytes)
{
    /* This is a hint.  If it fails, the sync at the end tells. */
    (void)sync_file_range(fd, (off_t)offset, (off_t)bytes, SYNC_FILE_RANGE_WRITE);
}

int tamis__write_out(int fd, uint64_t offset, uint64_t bytes, const char *what)
{
    const unsigned flags =
        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    int error = tamis__may_fail("write out", what);
    if (error == 0 && sync_file_range(fd, (off_t)offset, (off_t)bytes, flags) != 0) error = errno;
    /* The disk's errors are told once, so the sync at the end would not tell them again.  With any
     * other the range was not written out, as where the call is not known; the sync does it. */
    const bool of_disk = error == EIO || error == ENOSPC || error == EDQUOT;
    return of_disk ? tamis__fail_errno(error, "write to the disk", what) : 0;
}

/* Makes one directory.  It is durable once the directory that names it is synced; that one
 * is opened by its own name, because the umask may close the new one to all.  Returns 1 if
 * it is new. */
static int make_one(const char *path)
{
    int fd;
    if (mkdir(path, 0777) != 0)
        return errno == EEXIST ? 0
                               : tamis__fail_denied(errno, AT_FDCWD, path, TAMIS__MAKES,
                                                    "make directory", path);
    char *parent = strdup(path);
    if (parent == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory for the path %s", path);
    char *slash = strrchr(parent, '/');
    if (slash != NULL) slash[slash == parent] = '\0';
    int rc = tamis__open(AT_FDCWD, slash ? parent : ".", O_RDONLY | O_DIRECTORY, 0, path, &fd);
    free(parent);
    if (rc < 0) return rc;
    rc = tamis__sync_file(fd, path);
    tamis__close(fd);
    return rc < 0 ? rc : 1;
}

int tamis__make_path(const char *path)
{
    char *copy = strdup(path);
    if (copy == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory for the path %s", path);
    int rc = 0;
    for (char *slash = copy + 1; rc >= 0 && *copy != '\0'; slash++) {
        if (*slash != '/' && *slash != '\0') continue;
        const char kept = *slash;
        *slash = '\0';
        rc = make_one(copy);
        *slash = kept;
        if (kept == '\0') break;
    }
    free(copy);
    return rc;
}

int tamis__rename(int old_dir_fd, const char *old_name, int new_dir_fd, const char *new_name,
                  const char *what)
{
    if (!tamis__may_fail("rename", what) &&
        renameat(old_dir_fd, old_name, new_dir_fd, new_name) == 0)
        return 0;
    return tamis__fail_denied(errno, new_dir_fd, new_name, TAMIS__MAKES, "name", what);
}

int tamis__link(int dir_fd, const char *old_name, const char *new_name, const char *what)
{
    if (!tamis__may_fail("link", what) && linkat(dir_fd, old_name, dir_fd, new_name, 0) == 0)
        return 0;
    return tamis__fail_denied(errno, dir_fd, new_name, TAMIS__MAKES, "name", what);
}

int tamis__unlink(int dir_fd, const char *name, const char *what)
{
    if (tamis__may_fail("unlink", what)) return tamis__fail_errno(errno, "remove", what);
    if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT) return 0;
    return tamis__fail_denied(errno, dir_fd, name, TAMIS__MAKES, "remove", what);
}

int tamis__remove_directory(int dir_fd, const char *name, const char *what)
{
    if (tamis__may_fail("rmdir", what)) return tamis__fail_errno(errno, "remove", what);
    if (unlinkat(dir_fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT) return 0;
    return tamis__fail_denied(errno, dir_fd, name, TAMIS__MAKES, "remove", what);
}

int tamis__same_file(int fd, const char *path)
{
    struct stat opened, named;
    if (tamis__may_fail("stat", path) || fstat(fd, &opened) != 0)
        return tamis__fail_errno(errno, "examine", path);
    if (stat(path, &named) != 0)
        return errno == ENOENT ? 0 : tamis__fail_errno(errno, "examine", path);
    return opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

int tamis__absolute_path(const char *path, char **absolute)
{
    *absolute = realpath(path, NULL);
    return *absolute ? 0 : tamis__fail_denied(errno, AT_FDCWD, path, X_OK, "find", path);
}

/* Calls flock(2), again after signals.  Returns 0 or the error number. */
static int lock_file(int fd, enum tamis__lock lock, int flags, const char *what)
{
    int error = tamis__may_fail("lock", what);
    while (error == 0 || error == EINTR) {
        if (flock(fd, (lock == TAMIS__LOCK_SHARED ? LOCK_SH : LOCK_EX) | flags) == 0) return 0;
        error = errno;
    }
    return error;
}

int tamis__lock(int fd, enum tamis__lock lock, const char *what)
{
    const int error = lock_file(fd, lock, 0, what);
    return error == 0 ? 0 : tamis__fail_errno(error, "lock", what);
}

int tamis__try_lock(int fd, enum tamis__lock lock, const char *what)
{
    const int error = lock_file(fd, lock, LOCK_NB, what);
    if (error == 0) return 1;
    return error == EWOULDBLOCK ? 0 : tamis__fail_errno(error, "lock", what);
}

void tamis__unlock(int fd)
{
    (void)flock(fd, LOCK_UN); /* cannot fail on a descriptor that we locked */
}

static int lock_byte(int fd, short type, uint64_t offset, const char *what)
{
    int error = tamis__may_fail("lock", what);
    while (error == 0 || error == EINTR) {
        struct flock lock = {
            .l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)offset, .l_len = 1};
        if (fcntl(fd, F_OFD_SETLK, &lock) == 0) return 1;
        error = errno;
    }
    if (error == EAGAIN || error == EACCES) return 0;
    return tamis__fail_errno(error, "lock a byte of", what);
}

int tamis__lock_byte(int fd, uint64_t offset, const char *what)
{
    return lock_byte(fd, F_WRLCK, offset, what);
}

int tamis__share_byte(int fd, uint64_t offset, const char *what)
{
    return lock_byte(fd, F_RDLCK, offset, what);
}

void tamis__unlock_byte(int fd, uint64_t offset)
{
    struct flock lock = {
        .l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = (off_t)offset, .l_len = 1};
    (void)fcntl(fd, F_OFD_SETLK, &lock); /* cannot fail on a lock of ours */
}

int tamis__byte_is_locked(int fd, uint64_t offset, const char *what)
{
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)offset, .l_len = 1};
    if (tamis__may_fail("lock", what) || fcntl(fd, F_OFD_GETLK, &lock) != 0)
        return tamis__fail_errno(errno, "examine the locks of", what);
    return lock.l_type != F_UNLCK;
}

void tamis__wait_a_little(unsigned round)
{
    const struct timespec nap = {.tv_nsec = 100000};
    if (round < 100)
        (void)sched_yield();
    else
        (void)nanosleep(&nap, NULL); /* a signal may end it early: the caller looks again */
}

unsigned tamis__processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return (unsigned)CPU_COUNT(&set);
    const long online = sysconf(_SC_NPROCESSORS_ONLN); /* more of them than a cpu_set_t has */
    return online > 0 ? (unsigned)online : 1;
}

int tamis__each_name(int dir_fd, const char *what, tamis__name_fn *fn, void *context)
{
    int own, rc;
    rc = tamis__open(dir_fd, ".", O_RDONLY | O_DIRECTORY, 0, what, &own);
    if (rc < 0) return rc;
    DIR *directory = fdopendir(own);
    if (directory == NULL) {
        rc = tamis__fail_errno(errno, "read directory", what);
        tamis__close(own);
        return rc;
    }
    while (rc == 0) {
        errno = 0; /* readdir() tells an error from the end by errno alone */
        const struct dirent *entry = readdir(directory);
        if (entry == NULL) {
            if (errno != 0) rc = tamis__fail_errno(errno, "read directory", what);
            break;
        }
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        rc = fn(context, entry->d_name);
    }
    (void)closedir(directory);
    return rc;
}

void tamis__random_bytes(void *buffer, size_t bytes)
{
    /* Up to 256 bytes are given whole, and not before the pool is ready: getrandom(2). */
    while (getrandom(buffer, bytes, 0) < 0 && errno == EINTR)
        continue;
}
