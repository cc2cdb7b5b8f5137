/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * faults.c: see faults.h.
 *
 * Two ways into allocation.  In a plain build the program has a malloc of its own in front of
 * glibc's, so that LMDB's and libc's allocations fail too.  Under a sanitizer, which has a malloc
 * itself, the linker's --wrap redirects the calls of our own objects (CMakeLists.txt).
 */
#undef _FILE_OFFSET_BITS /* else the names below would be those with 64, which LMDB does not call  \
                          */
#include "faults.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "os/io.h"

static struct {
    unsigned calls_left, memory_left; /* 0: not armed */
    int error_number;
    const char *verb;
    bool reached;
    char where[256];
} armed;

static long blocks; /* of the heap, in use; atomic */

static bool reach(const char *verb, const char *what)
{
    armed.reached = true;
    (void)snprintf(armed.where, sizeof armed.where, "%s %s", verb, what);
    return true;
}

/* ---- System calls ---------------------------------------------------------------------------- */

static int fail_call(const char *verb, const char *what)
{
    if (armed.calls_left == 0) return 0;
    if (armed.verb != NULL && strcmp(armed.verb, verb) != 0) return 0;
    if (--armed.calls_left > 0) return 0;
    (void)reach(verb, what);
    return armed.error_number;
}

/* LMDB's: true if the call is to fail, errno set. */
static bool fail_lmdb(const char *verb)
{
    const int error = fail_call(verb, "(LMDB)");
    if (error == 0) return false;
    errno = error;
    return true;
}

int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if (fail_lmdb("open")) return -1;
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

ssize_t pread(int fd, void *buffer, size_t bytes, off_t offset)
{
    return fail_lmdb("pread") ? -1 : syscall(SYS_pread64, fd, buffer, bytes, offset);
}

ssize_t pwrite(int fd, const void *buffer, size_t bytes, off_t offset)
{
    return fail_lmdb("pwrite") ? -1 : syscall(SYS_pwrite64, fd, buffer, bytes, offset);
}

ssize_t writev(int fd, const struct iovec *pieces, int count)
{
    return fail_lmdb("writev") ? -1 : syscall(SYS_writev, fd, pieces, count);
}

/* Not carried out: no test here cuts the power. */
int fdatasync(int fd)
{
    (void)fd;
    return fail_lmdb("fdatasync") ? -1 : 0;
}

int fsync(int fd) /* the library's own; its hook has been asked */
{
    (void)fd;
    return 0;
}

static bool fail_memory(const char *verb)
{
    if (armed.memory_left == 0 || --armed.memory_left > 0) return false;
    errno = ENOMEM;
    return reach(verb, "");
}

#ifndef FAULTS_WRAP /* sanitizers follow mappings; there no mmap can fail */
void *mmap64(void *address, size_t bytes, int protection, int flags, int fd, off64_t offset)
{
    if ((flags & MAP_ANONYMOUS) != 0 && fail_memory("mmap")) return MAP_FAILED;
    const long got = syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);
    return (void *)got; // NOLINT(performance-no-int-to-ptr)
}

void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    return fail_lmdb("mmap") ? MAP_FAILED : mmap64(address, bytes, protection, flags, fd, offset);
}
#endif

/* ---- Memory ---------------------------------------------------------------------------------- */

#ifdef FAULTS_WRAP

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes)
{
    return fail_memory("malloc") ? NULL : __real_malloc(bytes);
}

void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes)
{
    return fail_memory("calloc") ? NULL : __real_calloc(count, bytes);
}

void *__real_realloc(void *old, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes)
{
    return fail_memory("realloc") ? NULL : __real_realloc(old, bytes);
}

void *__real_reallocarray(void *old, size_t count, size_t bytes);
void *__wrap_reallocarray(void *old, size_t count, size_t bytes);
void *__wrap_reallocarray(void *old, size_t count, size_t bytes)
{
    return fail_memory("reallocarray") ? NULL : __real_reallocarray(old, count, bytes);
}

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
char *__wrap_strdup(const char *text)
{
    return fail_memory("strdup") ? NULL : __real_strdup(text);
}

char *__real_realpath(const char *path, char *resolved);
char *__wrap_realpath(const char *path, char *resolved);
char *__wrap_realpath(const char *path, char *resolved)
{
    return fail_memory("realpath") ? NULL : __real_realpath(path, resolved);
}

int __wrap_asprintf(char **text, const char *format, ...);
__attribute__((format(printf, 2, 3))) int __wrap_asprintf(char **text, const char *format, ...)
{
    va_list arguments;
    if (fail_memory("asprintf")) return -1;
    va_start(arguments, format);
    const int length = vasprintf(text, format, arguments);
    va_end(arguments);
    return length;
}

#else

/* glibc's own, under the names that it keeps for this. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *block);

static void *count(void *block)
{
    if (block != NULL) (void)__atomic_add_fetch(&blocks, 1, __ATOMIC_RELAXED);
    return block;
}

void *malloc(size_t bytes)
{
    return fail_memory("malloc") ? NULL : count(__libc_malloc(bytes));
}

void *calloc(size_t number, size_t bytes)
{
    return fail_memory("calloc") ? NULL : count(__libc_calloc(number, bytes));
}

/* Of realloc(block, 0), which frees it, there is no caller. */
void *realloc(void *old, size_t bytes)
{
    if (fail_memory("realloc")) return NULL;
    return old == NULL ? count(__libc_malloc(bytes)) : __libc_realloc(old, bytes);
}

int posix_memalign(void **block, size_t alignment, size_t bytes)
{
    if (fail_memory("posix_memalign")) return ENOMEM;
    *block = count(__libc_memalign(alignment, bytes));
    return *block != NULL ? 0 : ENOMEM;
}

void free(void *block)
{
    if (block != NULL) (void)__atomic_sub_fetch(&blocks, 1, __ATOMIC_RELAXED);
    __libc_free(block);
}

#endif

/* ---- Arming ---------------------------------------------------------------------------------- */

void faults_arm_verb(unsigned nth, int error_number, const char *verb)
{
    armed.calls_left = nth;
    armed.memory_left = 0;
    armed.error_number = error_number;
    armed.verb = verb;
    armed.reached = false;
    tamis__io_hook = fail_call;
}

void faults_arm_calls(unsigned nth, int error_number)
{
    faults_arm_verb(nth, error_number, NULL);
}

void faults_arm_memory(unsigned nth)
{
    armed.calls_left = 0;
    armed.reached = false;
    armed.memory_left = nth;
}

bool faults_disarm(void)
{
    const bool reached = armed.reached;
    armed.calls_left = armed.memory_left = 0;
    armed.reached = false;
    tamis__io_hook = NULL;
    return reached;
}

long faults_blocks(void)
{
    return __atomic_load_n(&blocks, __ATOMIC_RELAXED);
}

const char *faults_where(void)
{
    return armed.where;
}
