/* SPDX-License-Identifier: BSD-2-Clause */
/* map.c: the mappings of io.h. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "os/guard.h"
#include "os/io.h"

#define HUGE_BYTES ((uint64_t)2 << 20)

static int map_file(int fd, uint64_t offset, uint64_t bytes, int protection, const char *what,
                    void **map)
{
    if (bytes < HUGE_BYTES) {
        void *got = mmap(NULL, (size_t)bytes, protection, MAP_SHARED, fd, (off_t)offset);
        if (got == MAP_FAILED) return tamis__fail_errno(errno, "map", what);
        *map = got;
        return 0;
    }
    /* A 2 MiB page-table entry needs address and file offset to agree modulo 2 MiB.  So more
     * addresses than needed are reserved, the file is mapped at the boundary inside, and the rest
     * is given back. */
    const uint64_t reserved = bytes + HUGE_BYTES;
    char *area =
        mmap(NULL, (size_t)reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (area == MAP_FAILED) return tamis__fail_errno(errno, "map", what);
    const uint64_t skip = (HUGE_BYTES - (uintptr_t)area % HUGE_BYTES) % HUGE_BYTES;
    void *got =
        mmap(area + skip, (size_t)bytes, protection, MAP_SHARED | MAP_FIXED, fd, (off_t)offset);
    if (got == MAP_FAILED) {
        const int map_error = errno;
        (void)munmap(area, (size_t)reserved);
        return tamis__fail_errno(map_error, "map", what);
    }
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t end = skip + (bytes + page - 1) / page * page;
    if (skip > 0) (void)munmap(area, (size_t)skip);
    if (end < reserved) (void)munmap(area + end, (size_t)(reserved - end));
    *map = got;
    return 0;
}

int tamis__map(int fd, uint64_t bytes, bool writable, const char *what, void **map)
{
    return tamis__map_part(fd, 0, bytes, writable, what, map);
}

int tamis__map_part(int fd, uint64_t offset, uint64_t bytes, bool writable, const char *what,
                    void **map)
{
    void *got = NULL;
    if (tamis__may_fail("mmap", what)) return tamis__fail_errno(errno, "map", what);
    const int rc = map_file(fd, offset, bytes, PROT_READ | (writable ? PROT_WRITE : 0), what, &got);
    if (rc < 0) return rc;
    if (tamis__guard_add(got, bytes, writable) == NULL) {
        (void)munmap(got, (size_t)bytes);
        return tamis__fail_at(TAMIS_ENOMEM, what, "out of memory mapping %s", what);
    }
    *map = got;
    return 0;
}

void tamis__unmap(void *map, uint64_t bytes)
{
    if (map == NULL) return;
    tamis__guard_remove(tamis__guard_of(map)); /* first: the address may soon be another's */
    (void)munmap(map, (size_t)bytes);
}

void tamis__want_map(void *at, uint64_t bytes)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    char *begin = (char *)at - (uintptr_t)at % page;
    const uint64_t all = bytes + (uintptr_t)at % page;
    for (uint64_t done = 0; done < all; done += HUGE_BYTES)
        (void)madvise(begin + done, (size_t)(all - done < HUGE_BYTES ? all - done : HUGE_BYTES),
                      MADV_WILLNEED); /* a hint */
}

void tamis__want_file(int fd, uint64_t offset, uint64_t bytes)
{
    for (uint64_t done = 0; done < bytes; done += HUGE_BYTES)
        (void)posix_fadvise(fd, (off_t)(offset + done),
                            (off_t)(bytes - done < HUGE_BYTES ? bytes - done : HUGE_BYTES),
                            POSIX_FADV_WILLNEED);
}

void tamis__forget_file(int fd)
{
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

void tamis__release_map(void *at, uint64_t bytes)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t skip = (page - (uintptr_t)at % page) % page;
    if (bytes <= skip) return;
    /* A hint about memory.  On a shared mapping of a file it never loses a byte. */
    (void)madvise((char *)at + skip, (size_t)((bytes - skip) / page * page), MADV_DONTNEED);
}

int tamis__sync_map(void *map, uint64_t bytes, const char *what)
{
    int error = tamis__may_fail("msync", what);
    while (error == 0 || error == EINTR) { /* as tamis__sync_file() */
        if (msync(map, (size_t)bytes, MS_SYNC) == 0) return 0;
        error = errno;
    }
    return tamis__fail_errno(error, "write to the disk", what);
}

void tamis__advise_large(void *at, size_t bytes)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE),
                    skip = (page - (uintptr_t)at % page) % page;
    if (bytes > skip) (void)madvise((char *)at + skip, (bytes - skip) / page * page, MADV_HUGEPAGE);
}

int tamis__map_check(const void *map, const char *what)
{
    if (!tamis__guard_is_broken(tamis__guard_of(map))) return 0;
    return tamis__fail_at(
        TAMIS_ECORRUPT, what,
        "a page of %s could not be read: the file was truncated meanwhile, or the disk "
        "fails (dmesg); restore it from a copy, then open it again",
        what);
}
