/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * obstacle.c: see obstacle.h.
 *
 *     the process             PR_SET_THP_DISABLE takes entries of 2 MiB from it, and its children
 *     a sync that failed      pages that look clean are not on the disk, and must stay in memory
 *     a tmpfs                 the kernel puts pages together, or says why not
 *     another file system     one range leaves memory, and comes again as advised:
 *                               it does not leave      another process has it mapped
 *                               it comes huge          all of them would: nobody has asked
 *                               it comes small         memory has no 2 MiB in one piece, or the
 *                                                      file system gives no large pages
 *
 * The switch `enabled` of /sys/kernel/mm/transparent_hugepage is about memory without a file: files
 * have huge pages where it says "never" too (seen on Linux 6.18, ext4 and tmpfs).
 */
#include "segment/obstacle.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "os/io.h"
#include "segment/huge.h"
#include "segment/pages.h"

#define EXT4_NUMBER 0xEF53
#define SYSTEM_SWITCHES "/sys/kernel/mm/transparent_hugepage"
#define RANGES_TRIED 8u

static const struct tamis__obstacle of_process = {
    "this process has huge pages switched off (PR_SET_THP_DISABLE of prctl)",
    "start it without that", NULL};
static const struct tamis__obstacle of_failed_sync = {
    "a sync has failed, and what is in memory alone must not leave it",
    "mend that first (tamis doctor), then have the pages come anew", "tamis sync NAME"};
static const struct tamis__obstacle of_kernel = {
    "the kernel was built without transparent huge pages", "it works all the same with small ones",
    "tamis pages NAME small"};
static const struct tamis__obstacle of_tmpfs_switch = {
    "huge pages are switched off for files in memory", "have them allowed",
    "echo advise >" SYSTEM_SWITCHES "/shmem_enabled"};
static const struct tamis__obstacle of_old_tmpfs = {
    "this kernel puts no pages of files in memory together, as Linux does from 6.1 on",
    "mount the tmpfs with huge=always, or go on with small ones", "tamis pages NAME small"};
static const struct tamis__obstacle of_history = {
    "its pages came into memory one by one, by a program that read them and did not ask for large "
    "ones",
    "have them come anew", "tamis sync NAME"};
static const struct tamis__obstacle of_others = {
    "its pages came into memory one by one, and stay while another process has them mapped or "
    "writes to them",
    "end or restart such processes, then have the pages come anew", "tamis sync NAME"};
static const struct tamis__obstacle of_memory = {
    "memory has no 2 MiB left in one piece",
    "free some, or have the kernel put it together (echo 1 >/proc/sys/vm/compact_memory), then "
    "have the pages come anew",
    "tamis sync NAME"};
static const struct tamis__obstacle of_old_ext4 = {
    "ext4 gives huge pages from Linux 6.16 on, and this kernel is older",
    "move the store to xfs or a newer kernel, or go on with small ones", "tamis pages NAME small"};
static const struct tamis__obstacle of_file_system = {
    "the file system gives this file none (of Linux 6.18, ext4 and xfs do, and btrfs does not)",
    "move the store to one that does, or go on with small ones", "tamis pages NAME small"};

/* Has the system's switch that value? */
static bool switch_is(const char *name, const char *value)
{
    char path[128], line[128] = "";
    (void)snprintf(path, sizeof path, SYSTEM_SWITCHES "/%s", name);
    FILE *file = fopen(path, "re");
    if (file == NULL) return false;
    const bool got = fgets(line, sizeof line, file) != NULL;
    (void)fclose(file);
    return got && strstr(line, value) != NULL;
}

static bool kernel_has_none(void)
{
    return access("/sys/kernel/mm", F_OK) == 0 && access(SYSTEM_SWITCHES, F_OK) != 0;
}

static const struct tamis__obstacle *of_tmpfs(const struct tamis__segment *segment)
{
    int error = EAGAIN;
    if (switch_is("shmem_enabled", "[deny]")) return &of_tmpfs_switch;
    for (uint64_t i = 0; error != 0 && error != EINVAL && i < RANGES_TRIED; i++)
        if ((i + 1) * TAMIS__HUGE_BYTES <= segment->header->file_bytes)
            error = tamis__range_collapse((char *)segment->map + i * TAMIS__HUGE_BYTES);
    return error == 0        ? &of_history
           : error != EINVAL ? &of_memory
                             : (kernel_has_none() ? &of_kernel : &of_old_tmpfs);
}

/* ---- A range that leaves and comes again ----------------------------------------------------- */

enum outcome { NOT_TRIED, STAYED, CAME_SMALL, CAME_HUGE };

static uint64_t huge_now(const struct tamis__segment *segment)
{
    const uintptr_t map = (uintptr_t)segment->map;
    uint64_t huge = 0;
    (void)tamis__huge_between(map, map + segment->map_bytes + (uint64_t)sysconf(_SC_PAGESIZE),
                              &huge);
    return huge;
}

/* Of a range that is in memory.  What is mapped by an entry of 2 MiB is asked of smaps, as the
 * other way came with Linux 6.7. */
static enum outcome try_range(int fd, const struct tamis__segment *segment, uint64_t offset)
{
    unsigned char in_memory[TAMIS__HUGE_BYTES / 4096];
    char *at = (char *)segment->map + offset;
    bool stays = false;
    tamis__range_leave(fd, segment, offset, TAMIS__HUGE_BYTES);
    if (mincore(at, TAMIS__HUGE_BYTES, in_memory) != 0) return NOT_TRIED;
    for (uint64_t i = 0; i < TAMIS__HUGE_BYTES / (uint64_t)sysconf(_SC_PAGESIZE); i++)
        stays |= in_memory[i] & 1;
    const uint64_t before = huge_now(segment);
    tamis__range_come(segment, offset, TAMIS__HUGE_BYTES, true);
    return huge_now(segment) > before ? CAME_HUGE : stays ? STAYED : CAME_SMALL;
}

/* The best outcome of some ranges that are in memory as small pages. */
static enum outcome try_ranges(int fd, const struct tamis__segment *segment)
{
    const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    enum outcome best = NOT_TRIED;
    unsigned tried = 0;
    uint64_t offset = (uint64_t)(tamis__pages_begin(segment) - (char *)segment->map);
    const uint64_t end = segment->header->file_bytes;
    for (; offset + TAMIS__HUGE_BYTES <= end && tried < RANGES_TRIED && best < CAME_SMALL;
         offset += TAMIS__HUGE_BYTES) {
        char *at = (char *)segment->map + offset;
        if (tamis__range_touch(at, TAMIS__HUGE_BYTES) == 0 || tamis__page_is_huge(pagemap, at))
            continue;
        const enum outcome outcome = try_range(fd, segment, offset);
        if (outcome > best) best = outcome;
        tried++;
    }
    if (pagemap >= 0) (void)close(pagemap);
    return best;
}

/* ---- Where one came small -------------------------------------------------------------------- */

/* Has the kernel 2 MiB in one piece for memory without a file?  Yes, where it does not tell. */
static bool memory_has_a_piece(void)
{
    if (switch_is("enabled", "[never]")) return true;
    const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    char *area = mmap(NULL, 2 * TAMIS__HUGE_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool has = true;
    if (area != MAP_FAILED) {
        char *at = area + (TAMIS__HUGE_BYTES - (uintptr_t)area % TAMIS__HUGE_BYTES);
        (void)madvise(area, 2 * TAMIS__HUGE_BYTES, MADV_HUGEPAGE);
        *(volatile char *)at = 1;
        has = tamis__page_is_huge(pagemap, at);
        (void)munmap(area, 2 * TAMIS__HUGE_BYTES);
    }
    if (pagemap >= 0) (void)close(pagemap);
    return has;
}

static bool is_old_ext4(const struct tamis__segment *segment)
{
    struct statfs fs;
    struct utsname system;
    char *end;
    if (fstatfs(segment->place->segments_fd, &fs) != 0 || fs.f_type != EXT4_NUMBER ||
        uname(&system) != 0)
        return false;
    const unsigned long major = strtoul(system.release, &end, 10),
                        minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
    return major < 6 || (major == 6 && minor < 16);
}

static const struct tamis__obstacle *of_small_pages(const struct tamis__segment *segment)
{
    if (kernel_has_none()) return &of_kernel;
    if (is_old_ext4(segment)) return &of_old_ext4;
    return memory_has_a_piece() ? &of_file_system : &of_memory;
}

static const struct tamis__obstacle *of_file(const struct tamis__segment *segment)
{
    char what[TAMIS__SEGMENT_PATH_BYTES];
    int fd = -1;
    if (tamis__segment_open_file(segment->place, segment->number, O_RDONLY, what, &fd) < 0)
        return &of_history;
    const enum outcome outcome = try_ranges(fd, segment);
    tamis__close(fd);
    switch (outcome) {
    case STAYED:
        return &of_others;
    case CAME_SMALL:
        return of_small_pages(segment);
    default:
        return &of_history;
    }
}

const struct tamis__obstacle *tamis__pages_obstacle(const struct tamis__segment *segment)
{
    if (prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) > 0) return &of_process;
    /* ORDER relaxed: as tamis__pages_anew(). */
    if (__atomic_load_n(&segment->live->degraded_since, __ATOMIC_RELAXED) != 0)
        return &of_failed_sync;
    return tamis__is_tmpfs(segment) ? of_tmpfs(segment) : of_file(segment);
}
