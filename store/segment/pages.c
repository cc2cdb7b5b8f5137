/* SPDX-License-Identifier: BSD-2-Clause */
/* pages.c: see pages.h. */
#include "segment/pages.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "segment/huge.h"
#include "segment/mark.h"

#define PAGE_BYTES 4096.0
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
    if (header->file_bytes < TAMIS__HUGE_BYTES) return UINT64_MAX;
    const double pages = (double)header->data_bytes / PAGE_BYTES;
    const double places = header->words != 0 || header->k == 0 ? 1 : header->k;
    return (uint64_t)ceil(KEYS_PER_PAGE * pages / places);
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
    if (segment->kept == NULL || h->file_bytes < TAMIS__HUGE_BYTES) return TAMIS_PAGES_SMALL;
    if (known.setting != TAMIS_PAGES_AUTO) return known.setting;
    /* ORDER relaxed: a hint. */
    const bool is_busy =
        __atomic_load_n(&segment->live->pages, __ATOMIC_RELAXED) == TAMIS_PAGES_HUGE;
    const bool rests = h->data_checksum != 0 || !known.takes_keys;
    return rests || is_busy || (!segment->writable && is_idle(segment)) || tamis__is_tmpfs(segment)
               ? TAMIS_PAGES_HUGE
               : TAMIS_PAGES_SMALL;
}

char *tamis__pages_begin(const struct tamis__segment *segment)
{
    return segment->header->data_offset < TAMIS__HUGE_BYTES ? segment->map : (char *)segment->data;
}

static uint64_t bytes_of(const struct tamis__segment *segment)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t end = (file_bytes(segment) + page - 1) / page * page;
    return end - (uint64_t)(tamis__pages_begin(segment) - (char *)segment->map);
}

void tamis__pages_advise(const struct tamis__segment *segment, uint32_t pages)
{
    if (segment->kept == NULL) return;
    /* ORDER relaxed: who comes second finds nothing to do, and the kernel has its own order. */
    const uint32_t before = __atomic_exchange_n(&segment->kept->pages, pages, __ATOMIC_RELAXED);
    if (before == pages) return;
    if (before != TAMIS_PAGES_AUTO || pages != TAMIS_PAGES_SMALL)
        (void)madvise(tamis__pages_begin(segment), bytes_of(segment),
                      pages == TAMIS_PAGES_HUGE ? MADV_HUGEPAGE : MADV_NOHUGEPAGE); /* a hint */
    __atomic_store_n(&segment->kept->anew, true, __ATOMIC_RELAXED);
}

void tamis__pages_note(const struct tamis__segment *segment, uint32_t pages)
{
    if (!segment->writable) return;
    __atomic_store_n(&segment->live->pages, pages, __ATOMIC_RELAXED);
}

/* ---- Anew ------------------------------------------------------------------------------------ */

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
    const uint64_t left = ranges->bytes - index * TAMIS__HUGE_BYTES;
    return left < TAMIS__HUGE_BYTES ? left : TAMIS__HUGE_BYTES;
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
        char *at = ranges->begin + i * TAMIS__HUGE_BYTES;
        const bool present = tamis__range_touch(at, bytes_of_range(ranges, i)) > 0;
        const bool is_huge = present && tamis__page_is_huge(pagemap, at);
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
    for (uint64_t i = 0; (i + 1) * TAMIS__HUGE_BYTES <= ranges->bytes; i++)
        (void)tamis__range_collapse(ranges->begin + i * TAMIS__HUGE_BYTES);
}

static void ranges_anew(const struct tamis__segment *segment, const struct ranges *ranges,
                        bool huge)
{
    char what[TAMIS__SEGMENT_PATH_BYTES];
    struct tamis__private_fd file;
    find_others(ranges, huge);
    if (tamis__segment_open_again(segment, what, &file) < 0) return;
    for (uint64_t i = 0; i < ranges->count; i++) {
        const uint64_t offset = ranges->offset + i * TAMIS__HUGE_BYTES;
        if (!ranges->other[i]) continue;
        tamis__range_leave(file.fd, segment, offset, bytes_of_range(ranges, i));
        tamis__range_come(segment, offset, bytes_of_range(ranges, i), huge);
    }
    tamis__private_close(&file);
}

void tamis__pages_anew(const struct tamis__segment *segment)
{
    if (segment->kept == NULL || file_bytes(segment) < TAMIS__HUGE_BYTES) return;
    /* Where a write has failed, the kernel takes pages for clean whose bits are in memory alone. */
    if (__atomic_load_n(&segment->live->degraded_since, __ATOMIC_RELAXED) != 0) return;
    /* ORDER relaxed: one of those that see it does it. */
    if (!__atomic_exchange_n(&segment->kept->anew, false, __ATOMIC_RELAXED)) return;
    const bool huge = tamis__pages_are_huge(segment);
    struct ranges ranges = {.begin = tamis__pages_begin(segment), .bytes = bytes_of(segment)};
    ranges.offset = (uint64_t)(ranges.begin - (char *)segment->map);
    ranges.count = (ranges.bytes + TAMIS__HUGE_BYTES - 1) / TAMIS__HUGE_BYTES;
    ranges.other = calloc(ranges.count, sizeof *ranges.other);
    if (ranges.other == NULL) return; /* the pages stay as they are */
    if (!tamis__is_tmpfs(segment))
        ranges_anew(segment, &ranges, huge);
    else if (huge)
        collapse(&ranges);
    free(ranges.other);
}

/* ---- What there is --------------------------------------------------------------------------- */

int tamis__pages_count(const struct tamis__segment *segment, struct tamis__pages_count *count)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (segment->kept == NULL) return 0;
    const uint64_t bytes = (file_bytes(segment) + page - 1) / page * page;
    char *map = segment->map;
    count->mapped += bytes;
    for (uint64_t at = 0; at < bytes; at += TAMIS__HUGE_BYTES)
        count->present += tamis__range_touch(
            map + at, bytes - at < TAMIS__HUGE_BYTES ? bytes - at : TAMIS__HUGE_BYTES);
    return bytes < TAMIS__HUGE_BYTES
               ? 0
               : tamis__huge_between((uintptr_t)map, (uintptr_t)map + segment->map_bytes + page,
                                     &count->huge);
}
