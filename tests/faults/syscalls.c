/* SPDX-License-Identifier: BSD-2-Clause */
/* syscalls.c: see syscalls.h. */
#undef _FILE_OFFSET_BITS /* else the names below would be those with 64 alone, which LMDB does not \
                            call */
#define _LARGEFILE64_SOURCE 1
#include "syscalls.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "fixture.h"
#include "os/io.h"

static enum syscalls_way armed_way;
static unsigned left, armed_seed; /* left 0: not armed */
static struct syscalls_fault fault;

/* ---- Which error ----------------------------------------------------------------------------- */

/* Those that such a call can give, and that do not mean something else (EAGAIN of a lock: it is
 * another's). */
static int error_of(const char *verb)
{
    static const struct {
        const char *verbs;
        int errors[7];
    } lists[] = {
        {"open", {EMFILE, ENFILE, EACCES, ENOMEM, EROFS, EIO, ENOSPC}},
        {"write writev pwrite", {ENOSPC, EIO, EDQUOT, EFBIG, ENOMEM}},
        {"copy allocate ftruncate", {ENOSPC, EIO, EDQUOT, EFBIG, ENOMEM}},
        {"read pread", {EIO, ENOMEM}},
        {"fsync fdatasync msync", {EIO, ENOSPC, EDQUOT}},
        {"mmap", {ENOMEM, EAGAIN, EACCES}},
        {"lock", {ENOLCK, ENOMEM, EIO}},
        {"rename link unlink mkdir rmdir chmod", {EIO, ENOSPC, EDQUOT, EROFS, EACCES, ENOMEM}},
    };
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        size_t count = 0;
        if (strstr(lists[i].verbs, verb) == NULL) continue;
        while (count < 7 && lists[i].errors[count] != 0)
            count++;
        return lists[i].errors[armed_seed % count];
    }
    return armed_seed % 2 ? EACCES : EIO;
}

static bool comes(const char *verb, const char *what)
{
    const unsigned was = __atomic_load_n(&left, __ATOMIC_RELAXED);
    if (was == 0 || __atomic_fetch_sub(&left, 1, __ATOMIC_RELAXED) != 1) return false;
    fault.reached = true;
    fault.verb = verb;
    fault.error_number = armed_way == INTERRUPTED ? EINTR : error_of(verb);
    (void)snprintf(fault.what, sizeof fault.what, "%s", what);
    return true;
}

static int at_hook(const char *verb, const char *what)
{
    return comes(verb, what) ? fault.error_number : 0;
}

static bool in_kernel(enum syscalls_way way, const char *verb, const void *caller)
{
    Dl_info info;
    if (armed_way != way || !comes(verb, "(in the kernel)")) return false;
    fault.by_lmdb = dladdr(caller, &info) != 0 && strstr(info.dli_fname, "lmdb") != NULL;
    errno = fault.error_number;
    return true;
}

/* The caller is the one who called the function that this stands in. */
#define FAILS(verb) in_kernel(FAIL_IN_KERNEL, verb, __builtin_return_address(0))
#define FAILS_OR_STOPS(verb)                                                                       \
    (FAILS(verb) || in_kernel(INTERRUPTED, verb, __builtin_return_address(0)))
#define HALF(verb, bytes)                                                                          \
    ((bytes) > 1 && in_kernel(CUT_SHORT, verb, __builtin_return_address(0)) ? (bytes) / 2 : (bytes))

/* ---- In libc's place ------------------------------------------------------------------------- */

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

long syscall(long number, ...)
{
    static long (*real)(long, ...);
    long a[6];
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(arguments, long);
    va_end(arguments);
    if (number == SYS_openat2 && FAILS_OR_STOPS("open")) return -1;
    if (real == NULL) *(void **)&real = next("syscall");
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static int open_at(int directory, const char *path, int flags, mode_t mode)
{
    return (int)syscall(SYS_openat, (long)directory, path, (long)flags, (long)mode);
}

int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return FAILS("open") ? -1 : open_at(AT_FDCWD, path, flags, mode);
}

int openat64(int directory, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return FAILS_OR_STOPS("open") ? -1 : open_at(directory, path, flags, mode);
}

ssize_t read(int fd, void *buffer, size_t bytes)
{
    if (FAILS_OR_STOPS("read")) return -1;
    return syscall(SYS_read, (long)fd, buffer, HALF("read", bytes));
}

ssize_t write(int fd, const void *buffer, size_t bytes)
{
    if (FAILS_OR_STOPS("write")) return -1;
    return syscall(SYS_write, (long)fd, buffer, HALF("write", bytes));
}

ssize_t pread(int fd, void *buffer, size_t bytes, off_t offset)
{
    if (FAILS_OR_STOPS("pread")) return -1;
    return syscall(SYS_pread64, (long)fd, buffer, HALF("pread", bytes), offset);
}

ssize_t pread64(int fd, void *buffer, size_t bytes, off64_t offset)
{
    if (FAILS_OR_STOPS("pread")) return -1;
    return syscall(SYS_pread64, (long)fd, buffer, HALF("pread", bytes), offset);
}

ssize_t pwrite(int fd, const void *buffer, size_t bytes, off_t offset)
{
    if (FAILS_OR_STOPS("pwrite")) return -1;
    return syscall(SYS_pwrite64, (long)fd, buffer, HALF("pwrite", bytes), offset);
}

ssize_t pwrite64(int fd, const void *buffer, size_t bytes, off64_t offset)
{
    if (FAILS_OR_STOPS("pwrite")) return -1;
    return syscall(SYS_pwrite64, (long)fd, buffer, HALF("pwrite", bytes), offset);
}

ssize_t writev(int fd, const struct iovec *pieces, int count)
{
    if (FAILS_OR_STOPS("writev")) return -1;
    const bool half = count > 1 && in_kernel(CUT_SHORT, "writev", __builtin_return_address(0));
    return syscall(SYS_writev, (long)fd, pieces, (long)(half ? count / 2 : count));
}

ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t bytes, unsigned flags)
{
    if (FAILS_OR_STOPS("copy")) return -1;
    return syscall(SYS_copy_file_range, (long)in, from, (long)out, to, HALF("copy", bytes),
                   (long)flags);
}

int fsync(int fd)
{
    (void)fd;
    return FAILS_OR_STOPS("fsync") ? -1 : 0;
}

int fdatasync(int fd)
{
    (void)fd;
    return FAILS_OR_STOPS("fdatasync") ? -1 : 0;
}

int msync(void *address, size_t bytes, int flags)
{
    (void)address;
    (void)bytes;
    (void)flags;
    return FAILS_OR_STOPS("msync") ? -1 : 0;
}

int fallocate64(int fd, int mode, off64_t offset, off64_t bytes)
{
    if (FAILS_OR_STOPS("allocate")) return -1;
    return (int)syscall(SYS_fallocate, (long)fd, (long)mode, offset, bytes);
}

int posix_fallocate64(int fd, off64_t offset, off64_t bytes) /* not the emulation */
{
    if (FAILS_OR_STOPS("allocate")) return fault.error_number;
    return syscall(SYS_fallocate, (long)fd, 0L, offset, bytes) == 0 ? 0 : errno;
}

int ftruncate(int fd, off_t bytes)
{
    return FAILS("ftruncate") ? -1 : (int)syscall(SYS_ftruncate, (long)fd, bytes);
}

int flock(int fd, int operation)
{
    if (operation != LOCK_UN && FAILS_OR_STOPS("lock")) return -1;
    return (int)syscall(SYS_flock, (long)fd, (long)operation);
}

int fcntl64(int fd, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    const long argument = va_arg(arguments, long);
    va_end(arguments);
    if (command == F_OFD_SETLK) {
        const struct flock *lock = (const void *)argument; // NOLINT(performance-no-int-to-ptr)
        if (lock->l_type != F_UNLCK && FAILS_OR_STOPS("lock")) return -1;
    }
    return (int)syscall(SYS_fcntl, (long)fd, (long)command, argument);
}

int fstatfs64(int fd, struct statfs64 *fs)
{
    if (FAILS_OR_STOPS("statfs")) return -1;
    return (int)syscall(SYS_fstatfs, (long)fd, fs);
}

#if !FIXTURE_SANITIZED /* sanitizers follow mappings */
static void *map(void *address, size_t bytes, int protection, int flags, int fd, off64_t offset)
{
    const long got =
        syscall(SYS_mmap, address, bytes, (long)protection, (long)flags, (long)fd, offset);
    return (void *)got; // NOLINT(performance-no-int-to-ptr)
}

void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    return FAILS("mmap") ? MAP_FAILED : map(address, bytes, protection, flags, fd, offset);
}

void *mmap64(void *address, size_t bytes, int protection, int flags, int fd, off64_t offset)
{
    return FAILS("mmap") ? MAP_FAILED : map(address, bytes, protection, flags, fd, offset);
}
#endif

/* ---- Arming ---------------------------------------------------------------------------------- */

void syscalls_arm(enum syscalls_way way, unsigned nth, unsigned seed)
{
    fault = (struct syscalls_fault){.verb = "no call"};
    armed_way = way;
    armed_seed = seed;
    tamis__io_hook = way == FAIL_AT_HOOK ? at_hook : NULL;
    __atomic_store_n(&left, nth, __ATOMIC_RELAXED);
}

struct syscalls_fault syscalls_disarm(void)
{
    __atomic_store_n(&left, 0, __ATOMIC_RELAXED);
    tamis__io_hook = NULL;
    return fault;
}
