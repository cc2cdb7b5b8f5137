/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * oom_preload.c: for LD_PRELOAD: the nth allocation since the program began to run, of OOM_NTH,
 * fails, and a file "reached" in the current directory says that it was come to.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

/* glibc's own, under the names that it keeps for this. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static unsigned long left; /* atomic; 0: none fails */

__attribute__((constructor)) static void begin(void)
{
    const char *nth = getenv("OOM_NTH");
    if (nth != NULL) left = strtoul(nth, NULL, 10);
}

static bool fails(void)
{
    if (__atomic_load_n(&left, __ATOMIC_RELAXED) == 0 ||
        __atomic_sub_fetch(&left, 1, __ATOMIC_RELAXED) > 0)
        return false;
    (void)close(open("reached", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    errno = ENOMEM;
    return true;
}

void *malloc(size_t bytes)
{
    return fails() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
    return fails() ? NULL : __libc_realloc(old, bytes);
}

int posix_memalign(void **block, size_t alignment, size_t bytes)
{
    *block = fails() ? NULL : __libc_memalign(alignment, bytes);
    return *block != NULL ? 0 : ENOMEM;
}
