/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * limits.c: random lines of a mapped file, and hashing alone.
 *
 * Which lines is drawn before the time is taken, so that a loop is a prefetch, a load or OR, and
 * the counting. Its file has the size of the filter's data and is of the same sort: in the same
 * directory, allocated in full, written by pages, mapped shared, every page of it touched for
 * writing by the process that is timed.  For a filter that takes half of the memory it is the
 * filter itself.
 */
#include "limits.h"

#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "random.h"

#define AHEAD 64u /* prefetches in flight */
#define LINE_WORDS 8u
#define PAGE_WORDS 512u

const char *const limit_names[LIMITS] = {"line", "or", "two-ors", "hash"};

static char path[256];

/* ---- The loops ------------------------------------------------------------------------------- */

static void draw_places(struct worker *worker, const struct order *order, uint64_t first,
                        size_t count)
{
    (void)order;
    (void)first;
    for (size_t i = 0; i < count; i++)
        worker->places[i] = random_below(&worker->random, worker->desk->line_count);
}

static inline uint64_t *line_of(const struct worker *worker, size_t i)
{
    return worker->desk->lines + worker->places[i] * LINE_WORDS;
}

static int64_t read_lines(struct worker *worker, const struct order *order, size_t count)
{
    uint64_t sum = 0;
    (void)order;
    for (size_t i = 0; i < AHEAD && i < count; i++)
        __builtin_prefetch(line_of(worker, i), 0, 3);
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count) __builtin_prefetch(line_of(worker, i + AHEAD), 0, 3);
        sum += __atomic_load_n(line_of(worker, i), __ATOMIC_RELAXED);
    }
    __atomic_store_n(&worker->desk->sink, sum, __ATOMIC_RELAXED);
    return 0;
}

/* Relaxed: nothing is told by these bits.  The compiler does not know them, and an OR of 0 is as
 * much work for the processor as one of 1. */
static inline int64_t or_lines(struct worker *worker, size_t count, bool two)
{
    const uint64_t bits = worker->desk->or_bits;
    for (size_t i = 0; i < AHEAD && i < count; i++)
        __builtin_prefetch(line_of(worker, i), 1, 3);
    for (size_t i = 0; i < count; i++) {
        uint64_t *line = line_of(worker, i);
        if (i + AHEAD < count) __builtin_prefetch(line_of(worker, i + AHEAD), 1, 3);
        (void)__atomic_fetch_or(line, bits, __ATOMIC_RELAXED);
        if (two) (void)__atomic_fetch_or(line + LINE_WORDS / 2, bits, __ATOMIC_RELAXED);
    }
    return 0;
}

static int64_t or_once(struct worker *worker, const struct order *order, size_t count)
{
    (void)order;
    return or_lines(worker, count, false);
}

static int64_t or_twice(struct worker *worker, const struct order *order, size_t count)
{
    (void)order;
    return or_lines(worker, count, true);
}

static void draw_keys(struct worker *worker, const struct order *order, uint64_t first,
                      size_t count)
{
    keys_in_order(&worker->stream, order->key_set, order->seed, first, count);
}

static int64_t hash_keys(struct worker *worker, const struct order *order, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        const struct tamis_key *key = &worker->stream.keys[i];
        const XXH128_hash_t hash = XXH3_128bits_withSeed(key->data, key->bytes, order->seed);
        sum += hash.high64 ^ hash.low64;
    }
    __atomic_store_n(&worker->desk->sink, sum, __ATOMIC_RELAXED);
    return 0;
}

struct order limit_order(enum limit limit)
{
    static int64_t (*const runs[LIMITS])(struct worker *, const struct order *,
                                         size_t) = {read_lines, or_once, or_twice, hash_keys};
    return (struct order){.prepare = limit == LIMIT_HASH ? draw_keys : draw_places,
                          .run = runs[limit],
                          .batch = STREAM_KEYS};
}

/* ---- The file -------------------------------------------------------------------------------- */

static int64_t map_lines(struct worker *worker, const struct order *order, size_t count)
{
    struct desk *desk = worker->desk;
    const int fd = open(order->path, O_RDWR | O_CLOEXEC);
    (void)count;
    if (fd < 0) err(1, "%s", order->path);
    desk->lines = mmap(NULL, order->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (desk->lines == MAP_FAILED) err(1, "mmap %s", order->path);
    (void)close(fd);
    if (order->huge && madvise(desk->lines, order->bytes, MADV_HUGEPAGE) != 0) err(1, "madvise");
    desk->line_count = order->bytes / (LINE_WORDS * sizeof *desk->lines);
    desk->or_bits = 1;
    for (uint64_t at = 0; at < order->bytes / sizeof *desk->lines; at += PAGE_WORDS)
        (void)__atomic_fetch_or(&desk->lines[at], 1, __ATOMIC_RELAXED);
    return 0;
}

static int64_t unmap_lines(struct worker *worker, const struct order *order, size_t count)
{
    struct desk *desk = worker->desk;
    (void)order;
    (void)count;
    if (munmap(desk->lines, desk->line_count * LINE_WORDS * sizeof *desk->lines) != 0)
        err(1, "munmap");
    desk->lines = NULL;
    return 0;
}

void limits_open(const char *directory, uint64_t bytes, bool huge, unsigned processes)
{
    static const char page[PAGE_WORDS * sizeof(uint64_t)];
    struct order order = {.run = map_lines,
                          .huge = huge,
                          .bytes = (bytes + sizeof page - 1) / sizeof page * sizeof page};
    (void)snprintf(path, sizeof path, "%s/limits", directory);
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) err(1, "%s", path);
    if (fallocate(fd, 0, 0, (off_t)order.bytes) != 0) err(1, "%s: room for the limits", path);
    for (uint64_t at = 0; !huge && at < order.bytes; at += sizeof page) /* else the touch does it */
        if (pwrite(fd, page, sizeof page, (off_t)at) != (ssize_t)sizeof page) err(1, "%s", path);
    (void)close(fd);
    memcpy(order.path, path, sizeof path);
    (void)crew_each(&order, processes);
}

void limits_close(unsigned processes)
{
    (void)crew_each(&(struct order){.run = unmap_lines}, processes);
    (void)unlink(path);
}

/* ---- A filter's own lines -------------------------------------------------------------------- */

/* The part of a line of /proc/self/maps that the limits need. */
struct mapping {
    uint64_t begin, end, offset;
};

/* Is it a mapping of the segment that has the byte at order->offset of the file? */
static bool has_data(const char *line, const struct order *order, struct mapping *m)
{
    char access[8];
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64, &m->begin, &m->end, access,
               &m->offset) != 4)
        return false;
    return strstr(line, order->path) != NULL && access[1] == 'w' && m->offset <= order->offset &&
           order->offset - m->offset < m->end - m->begin;
}

static int64_t use_lines(struct worker *worker, const struct order *order, size_t count)
{
    char line[1024];
    struct mapping m;
    struct desk *desk = worker->desk;
    FILE *maps = fopen("/proc/self/maps", "r");
    (void)count;
    desk->lines = NULL;
    while (maps != NULL && desk->lines == NULL && fgets(line, sizeof line, maps) != NULL)
        if (has_data(line, order, &m))
            desk->lines = (uint64_t *)(uintptr_t)(m.begin + order->offset - m.offset);
    if (maps != NULL) (void)fclose(maps);
    if (desk->lines == NULL) errx(1, "no mapping of %s is to be found", order->path);
    desk->line_count = order->bytes / (LINE_WORDS * sizeof *desk->lines);
    desk->or_bits = 0;
    return 0;
}

void limits_use(const struct tamis_segment_stat *segment, unsigned processes)
{
    struct order order = {
        .run = use_lines, .offset = segment->data_offset, .bytes = segment->data_bytes};
    (void)snprintf(order.path, sizeof order.path, "segments/%016" PRIu64 ".seg", segment->number);
    (void)crew_each(&order, processes);
}

static int64_t leave_lines(struct worker *worker, const struct order *order, size_t count)
{
    (void)order;
    (void)count;
    worker->desk->lines = NULL;
    return 0;
}

void limits_leave(unsigned processes)
{
    (void)crew_each(&(struct order){.run = leave_lines}, processes);
}
