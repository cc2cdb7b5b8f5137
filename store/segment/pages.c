/* SPDX-License-Identifier: BSD-2-Clause */
/* pages.c: see pages.h. */
#include "segment/pages.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "os/io.h"
#include "segment/mark.h"
#include "segment/sheet.h"

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

#define PAGE_BYTES 4096.0
#define HUGE_BYTES ((uint64_t)2 << 20)
/* With x new keys for each small page, small pages write 1 - e^-x of all bytes, huge ones nearly
 * all: a quarter more at ln 5. */
#define KEYS_PER_PAGE 1.6094379124341003
/* A segment that nobody has written to for so long is taken for one that nobody writes to. */
#define IDLE_NS ((int64_t)86400 * 1000000000)

static uint64_t file_bytes(const struct tamis__segment *segment)
{
    return tamis__header_file_bytes(segment->header);
}

uint64_t tamis__pages_keys(const struct tamis__segment_header *header)
{
    if (tamis__is_sheet(header->number) || header->file_bytes < HUGE_BYTES) return UINT64_MAX;
    const double pages = (double)header->data_bytes / PAGE_BYTES;
    const double places = header->words != 0 || header->k == 0 ? 1 : header->k;
    return (uint64_t)ceil(KEYS_PER_PAGE * pages / places);
}

/* Are the files of the store in memory alone? */
static bool is_tmpfs(const struct tamis__segment *segment)
{
    struct statfs fs;
    return segment->place != NULL && fstatfs(segment->place->segments_fd, &fs) == 0 &&
           fs.f_type == TMPFS_NUMBER;
}

static bool is_idle(const struct tamis__segment *segment)
{
    const struct tamis__live *live = segment->live;
    return tamis__mark_is_clean(live) &&
           tamis__now_ns() - tamis__clean_until_of(live, segment->header->created_at) > IDLE_NS;
}

uint32_t tamis__pages_wanted(const struct tamis__segment *segment, struct tamis__pages_case known)
{
    const struct tamis__segment_header *h = segment->header;
    if (segment->kept == NULL || tamis__is_sheet(h->number) || h->file_bytes < HUGE_BYTES)
        return TAMIS_PAGES_SMALL;
    if (known.setting != TAMIS_PAGES_AUTO) return known.setting;
    /* ORDER relaxed: a hint. */
    const bool is_busy =
        __atomic_load_n(&segment->live->pages, __ATOMIC_RELAXED) == TAMIS_PAGES_HUGE;
    const bool rests = h->data_checksum != 0 || !known.takes_keys;
    return rests || is_busy || (!segment->writable && is_idle(segment)) || is_tmpfs(segment)
               ? TAMIS_PAGES_HUGE
               : TAMIS_PAGES_SMALL;
}

/* The part of the mapping that is advised: all of it, or what is behind the header, where that has
 * a folio of its own. */
static char *begin_of(const struct tamis__segment *segment)
{
    return segment->header->data_offset < HUGE_BYTES ? segment->map : (char *)segment->data;
}

static uint64_t bytes_of(const struct tamis__segment *segment)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t end = (file_bytes(segment) + page - 1) / page * page;
    return end - (uint64_t)(begin_of(segment) - (char *)segment->map);
}

void tamis__pages_advise(const struct tamis__segment *segment, uint32_t pages)
{
    if (segment->kept == NULL) return;
    /* ORDER relaxed: who comes second finds nothing to do, and the kernel has its own order. */
    const uint32_t before = __atomic_exchange_n(&segment->kept->pages, pages, __ATOMIC_RELAXED);
    if (before == pages || (before == TAMIS_PAGES_AUTO && pages == TAMIS_PAGES_SMALL)) return;
    (void)madvise(begin_of(segment), bytes_of(segment),
                  pages == TAMIS_PAGES_HUGE ? MADV_HUGEPAGE : MADV_NOHUGEPAGE); /* a hint */
    __atomic_store_n(&segment->kept->anew, true, __ATOMIC_RELAXED);
}

void tamis__pages_note(const struct tamis__segment *segment, uint32_t pages)
{
    if (!segment->writable) return;
    __atomic_store_n(&segment->live->pages, pages, __ATOMIC_RELAXED);
}

/* ---- Anew ------------------------------------------------------------------------------------ */

/* Counts the bytes of one range that are in memory, and touches the first page if it is: a large
 * one is then mapped by one entry. */
static uint64_t touch_present(char *at, uint64_t bytes)
{
    unsigned char in_memory[HUGE_BYTES / 4096];
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t count = 0;
    if (mincore(at, bytes, in_memory) != 0) return 0;
    for (uint64_t i = 0; i < bytes / page; i++)
        count += in_memory[i] & 1;
    if (in_memory[0] & 1) (void)madvise(at, page, MADV_POPULATE_READ);
    return count * page;
}

/* Is the page at that address mapped by an entry of 2 MiB?  It is not, as far as is known, where
 * the kernel does not tell. */
static bool is_huge_at(int pagemap, const char *at)
{
    struct scan_found found;
    struct scan scan = {.size = sizeof scan,
                        .start = (uintptr_t)at,
                        .end = (uintptr_t)at + (uint64_t)sysconf(_SC_PAGESIZE),
                        .vec = (uintptr_t)&found,
                        .vec_len = 1,
                        .category_mask = SCAN_HUGE,
                        .return_mask = SCAN_HUGE};
    return pagemap >= 0 && ioctl(pagemap, SCAN_CALL, &scan) == 1;
}

/* One folio's worth: leaves this process's table and the memory, and comes again. */
static void range_anew(int fd, const struct tamis__segment *segment, uint64_t offset,
                       uint64_t bytes, bool huge)
{
    char *at = (char *)segment->map + offset;
    (void)madvise(at, bytes, MADV_DONTNEED); /* of a shared mapping: no byte is lost */
    (void)posix_fadvise(fd, (off_t)offset, (off_t)bytes, POSIX_FADV_DONTNEED);
    if (huge)
        (void)madvise(at, (size_t)sysconf(_SC_PAGESIZE), MADV_POPULATE_READ);
    else
        tamis__want_map(at, bytes);
}

/* The parts of the mapping that may have a large page each. */
struct ranges {
    char *begin;
    uint64_t bytes;
    uint64_t offset; /* of the first one in the file */
    uint64_t count;
    bool *other; /* it is in memory, and in the other sort of page */
};

static uint64_t bytes_of_range(const struct ranges *ranges, uint64_t index)
{
    const uint64_t left = ranges->bytes - index * HUGE_BYTES;
    return left < HUGE_BYTES ? left : HUGE_BYTES;
}

/*
 * Whether a page in memory is a large one shows in whether an entry of 2 MiB maps it.  The kernel
 * makes none where the advice is against it, so that is taken back for the look.  Where it had no
 * 2 MiB in one piece it has taken pages of a size in between, which nothing shows: so if any page
 * is huge, all that are in memory are taken for large.
 */
static void find_others(const struct ranges *ranges, bool huge)
{
    const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    bool any = false;
    if (!huge) (void)madvise(ranges->begin, ranges->bytes, MADV_HUGEPAGE);
    for (uint64_t i = 0; i < ranges->count; i++) {
        char *at = ranges->begin + i * HUGE_BYTES;
        const bool present = touch_present(at, bytes_of_range(ranges, i)) > 0;
        const bool is_huge = present && is_huge_at(pagemap, at);
        any |= is_huge;
        ranges->other[i] = present && !(huge && is_huge);
    }
    if (!huge) (void)madvise(ranges->begin, ranges->bytes, MADV_NOHUGEPAGE);
    for (uint64_t i = 0; i < ranges->count && !huge && !any; i++)
        ranges->other[i] = false;
    if (pagemap >= 0) (void)close(pagemap);
}

/* The file is the memory: its pages are put together in place. */
static void collapse(const struct ranges *ranges)
{
    for (uint64_t i = 0; (i + 1) * HUGE_BYTES <= ranges->bytes; i++)
        (void)madvise(ranges->begin + i * HUGE_BYTES, HUGE_BYTES, MADV_COLLAPSE);
}

static void ranges_anew(const struct tamis__segment *segment, const struct ranges *ranges,
                        bool huge)
{
    char what[TAMIS__SEGMENT_PATH_BYTES];
    struct tamis__private_fd file;
    find_others(ranges, huge);
    if (tamis__segment_open_again(segment, what, &file) < 0) return;
    for (uint64_t i = 0; i < ranges->count; i++)
        if (ranges->other[i])
            range_anew(file.fd, segment, ranges->offset + i * HUGE_BYTES, bytes_of_range(ranges, i),
                       huge);
    tamis__private_close(&file);
}

void tamis__pages_anew(const struct tamis__segment *segment)
{
    if (segment->kept == NULL || tamis__is_sheet(segment->number)) return;
    /* Where a write has failed, the kernel takes pages for clean whose bits are in memory alone. */
    if (__atomic_load_n(&segment->live->degraded_since, __ATOMIC_RELAXED) != 0) return;
    /* ORDER relaxed: one of those that see it does it. */
    if (!__atomic_exchange_n(&segment->kept->anew, false, __ATOMIC_RELAXED)) return;
    const bool huge = tamis__pages_are_huge(segment);
    struct ranges ranges = {.begin = begin_of(segment), .bytes = bytes_of(segment)};
    ranges.offset = (uint64_t)(ranges.begin - (char *)segment->map);
    ranges.count = (ranges.bytes + HUGE_BYTES - 1) / HUGE_BYTES;
    ranges.other = calloc(ranges.count, sizeof *ranges.other);
    if (ranges.other == NULL) return; /* the pages stay as they are */
    if (!is_tmpfs(segment))
        ranges_anew(segment, &ranges, huge);
    else if (huge)
        collapse(&ranges);
    free(ranges.other);
}

/* ---- What there is --------------------------------------------------------------------------- */

/* Sums what the system's table says of the mappings between two addresses. */
static int huge_between(uintptr_t begin, uintptr_t end, uint64_t *huge)
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

int tamis__pages_count(const struct tamis__segment *segment, struct tamis__pages_count *count)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (segment->kept == NULL) return 0;
    const uint64_t bytes = tamis__is_sheet(segment->number)
                               ? segment->map_bytes
                               : (file_bytes(segment) + page - 1) / page * page;
    char *map = segment->map;
    count->mapped += bytes;
    for (uint64_t at = 0; at < bytes; at += HUGE_BYTES)
        count->present +=
            touch_present(map + at, bytes - at < HUGE_BYTES ? bytes - at : HUGE_BYTES);
    return bytes < HUGE_BYTES
               ? 0
               : huge_between((uintptr_t)map, (uintptr_t)map + segment->map_bytes + page,
                              &count->huge);
}

/* Has the system's switch that value? */
static bool switch_is(const char *name, const char *value)
{
    char path[128], line[128] = "";
    (void)snprintf(path, sizeof path, "/sys/kernel/mm/transparent_hugepage/%s", name);
    FILE *file = fopen(path, "re");
    if (file == NULL) return false;
    const bool got = fgets(line, sizeof line, file) != NULL;
    (void)fclose(file);
    return got && strstr(line, value) != NULL;
}

const char *tamis__pages_obstacle(const struct tamis__segment *segment)
{
    if (access("/sys/kernel/mm/transparent_hugepage", F_OK) != 0)
        return "the kernel was built without transparent huge pages";
    if (switch_is("enabled", "[never]"))
        return "transparent huge pages are switched off; write 'madvise' to "
               "/sys/kernel/mm/transparent_hugepage/enabled";
    if (is_tmpfs(segment))
        return switch_is("shmem_enabled", "[deny]")
                   ? "they are switched off for files in memory; write 'advise' to "
                     "/sys/kernel/mm/transparent_hugepage/shmem_enabled"
                   : "the pages are still single ones; 'tamis sync' puts them together (Linux 6.1)";
    return "the pages came into memory one by one, and come anew with 'tamis sync' if no other "
           "process has them mapped; or the file system gives no large ones (ext4 does from "
           "Linux 6.16 on, xfs and btrfs too)";
}
