/* SPDX-License-Identifier: BSD-2-Clause */
/* huge.c: see huge.h. */
#include "segment/huge.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "os/io.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 /* Linux 5.14; a C library may be older than the kernel */
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif
#define TMPFS_NUMBER 0x01021994

/* PAGEMAP_SCAN of /proc/self/pagemap (Linux 6.7; the headers may be older than the kernel). */
struct scan {
    uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
    uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
struct scan_found {
    uint64_t start, end, categories;
};
#define SCAN_CALL _IOWR('f', 16, struct scan)
#define SCAN_HUGE ((uint64_t)1 << 6) /* PAGE_IS_HUGE */

static uint64_t page_bytes(void)
{
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

bool tamis__is_tmpfs(const struct tamis__segment *segment)
{
    struct statfs fs;
    return segment->place != NULL && fstatfs(segment->place->segments_fd, &fs) == 0 &&
           fs.f_type == TMPFS_NUMBER;
}

uint64_t tamis__range_touch(char *at, uint64_t bytes)
{
    unsigned char in_memory[TAMIS__HUGE_BYTES / 4096];
    const uint64_t page = page_bytes();
    uint64_t count = 0;
    if (mincore(at, bytes, in_memory) != 0) return 0;
    for (uint64_t i = 0; i < bytes / page; i++)
        count += in_memory[i] & 1;
    if (in_memory[0] & 1) (void)madvise(at, page, MADV_POPULATE_READ);
    return count * page;
}

bool tamis__page_is_huge(int pagemap, const char *at)
{
    struct scan_found found;
    struct scan scan = {.size = sizeof scan,
                        .start = (uintptr_t)at,
                        .end = (uintptr_t)at + page_bytes(),
                        .vec = (uintptr_t)&found,
                        .vec_len = 1,
                        .category_mask = SCAN_HUGE,
                        .return_mask = SCAN_HUGE};
    return pagemap >= 0 && ioctl(pagemap, SCAN_CALL, &scan) == 1;
}

void tamis__range_leave(int fd, const struct tamis__segment *segment, uint64_t offset,
                        uint64_t bytes)
{
    char *at = (char *)segment->map + offset;
    (void)madvise(at, bytes, MADV_DONTNEED); /* of a shared mapping: no byte is lost */
    (void)posix_fadvise(fd, (off_t)offset, (off_t)bytes, POSIX_FADV_DONTNEED);
}

void tamis__range_come(const struct tamis__segment *segment, uint64_t offset, uint64_t bytes,
                       bool huge)
{
    char *at = (char *)segment->map + offset;
    if (huge)
        (void)madvise(at, page_bytes(), MADV_POPULATE_READ);
    else
        tamis__want_map(at, bytes);
}

void tamis__file_huge(int fd, uint64_t offset, uint64_t bytes)
{
    const uint64_t begin = offset / TAMIS__HUGE_BYTES * TAMIS__HUGE_BYTES,
                   end = (offset + bytes + TAMIS__HUGE_BYTES - 1) / TAMIS__HUGE_BYTES *
                         TAMIS__HUGE_BYTES;
    char *map = mmap(NULL, (size_t)(end - begin), PROT_READ, MAP_SHARED, fd, (off_t)begin);
    if (map == MAP_FAILED) return;
    /* This is not a touch, which would be a SIGBUS behind the end of the file, or where the disk
     * does not read. */
    if (madvise(map, (size_t)(end - begin), MADV_HUGEPAGE) == 0) {
        /* Else the kernel reads ahead as far as the device's setting goes, which is often less than
         * 2 MiB and comes small. */
        (void)madvise(map, (size_t)(end - begin), MADV_RANDOM);
        for (uint64_t done = 0; done < end - begin; done += TAMIS__HUGE_BYTES)
            (void)madvise(map + done, 1, MADV_POPULATE_READ);
    }
    (void)munmap(map, (size_t)(end - begin));
}

int tamis__range_collapse(char *at)
{
    return madvise(at, TAMIS__HUGE_BYTES, MADV_COLLAPSE) == 0 ? 0 : errno;
}

int tamis__huge_between(uintptr_t begin, uintptr_t end, uint64_t *huge)
{
    char line[512];
    unsigned long from = 0, to = 0, kib;
    FILE *table = fopen("/proc/self/smaps", "re");
    if (table == NULL) return tamis__fail_errno(errno, "read", "/proc/self/smaps");
    while (fgets(line, sizeof line, table) != NULL) {
        unsigned long a, b;
        if (sscanf(line, "%lx-%lx ", &a, &b) == 2) {
            from = a;
            to = b;
        }
        if (from < begin || to > end) continue;
        if (sscanf(line, "FilePmdMapped: %lu", &kib) == 1 ||
            sscanf(line, "ShmemPmdMapped: %lu", &kib) == 1)
            *huge += (uint64_t)kib << 10;
    }
    (void)fclose(table);
    return 0;
}
