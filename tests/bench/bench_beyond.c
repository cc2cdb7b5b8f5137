/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_beyond.c: a filter of kind blocked that is larger than the memory that its process may use.
 * beyond_memory.sh runs it: it makes the memory cgroup, and has the second step run within it.
 *
 *     bench_beyond make STORE BYTES SORT    a filter of about BYTES in pages of that sort; a tenth
 *                                           of the keys that it is made for is added, which
 *                                           touches every page; then the system forgets its pages
 *     bench_beyond ask STORE SECONDS        keys that are there, keys that are not, and new keys,
 *                                           in batches of 1,024, each for so long, behind as long
 *                                           a time that is not counted
 *
 * For each it prints keys a second, and of each key the kilobytes read from the disk and written to
 * it, and the faults that waited for the disk.  What the kernel writes back later, of pages that
 * were dirtied, counts when they are dirtied.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench.h"
#include "random.h"

#define BATCH 1024u
#define SEED UINT64_C(31)
#define STRANGERS (UINT64_C(1) << 60)

static uint64_t numbers[BATCH];
static struct tamis_key keys[BATCH];
static uint8_t answers[BATCH];

/* A key is its number, mixed. */
static void put_key(size_t i, uint64_t number)
{
    uint64_t state = number * UINT64_C(0x9E3779B97F4A7C15) + SEED;
    numbers[i] = random_next(&state);
    keys[i] = (struct tamis_key){&numbers[i], sizeof numbers[i]};
}

/* ---- Making ---------------------------------------------------------------------------------- */

static void forget_pages(const char *store, uint64_t number)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/segments/%016" PRIu64 ".seg", store, number);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) != 0) err(1, "%s", path);
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    (void)close(fd);
}

static void make(const char *path, uint64_t bytes, uint32_t pages)
{
    tamis_store *store;
    tamis_filter *filter;
    struct tamis_segment_stat stat = {.size = sizeof stat};
    const struct tamis_filter_spec spec = {
        .size = sizeof spec,
        .capacity = (uint64_t)((double)bytes * 8 / 10.27), /* as 1 % takes of bits a key */
        .fp_rate = 0.01,
        .pages = pages,
        .on_full = TAMIS_ON_FULL_WARN};
    bench_done(tamis_store_open(path, TAMIS_OPEN_CREATE, &store));
    bench_done(tamis_filter_create(store, "beyond", &spec, &filter));
    bench_done(tamis_filter_segment(filter, 0, &stat));
    for (uint64_t number = 0; number < spec.capacity / 10; number += BATCH) {
        for (size_t i = 0; i < BATCH; i++)
            put_key(i, number + i);
        bench_done(tamis_filter_add_batch(filter, keys, BATCH, answers));
    }
    bench_done(tamis_filter_close(filter));
    tamis_store_close(store);
    forget_pages(path, stat.number);
}

/* ---- Asking ---------------------------------------------------------------------------------- */

struct use {
    uint64_t read_bytes, written_bytes, faults;
};

static struct use use_now(void)
{
    char line[128];
    struct use use = {0};
    struct rusage usage;
    FILE *file = fopen("/proc/self/io", "r");
    if (file == NULL || getrusage(RUSAGE_SELF, &usage) != 0) err(1, "/proc/self/io");
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "read_bytes: %" SCNu64, &use.read_bytes) != 1)
            (void)sscanf(line, "write_bytes: %" SCNu64, &use.written_bytes);
    (void)fclose(file);
    use.faults = (uint64_t)usage.ru_majflt;
    return use;
}

enum what { HIT, MISS, ADD };
static const char *const names[] = {"hit", "miss", "add"};

static void one_batch(tamis_filter *filter, enum what what, uint64_t items, uint64_t *random)
{
    static uint64_t fresh = STRANGERS;
    for (size_t i = 0; i < BATCH; i++)
        put_key(i, what == HIT ? random_below(random, items) : fresh++);
    if (what == ADD) {
        bench_done(tamis_filter_add_batch(filter, keys, BATCH, answers));
        return;
    }
    const int64_t found = bench_done(tamis_filter_contains_batch(filter, keys, BATCH, answers));
    if (what == HIT && found != BATCH) errx(1, "a key that was added is absent");
}

static uint64_t batches_for(tamis_filter *filter, enum what what, uint64_t items, double seconds,
                            uint64_t *random)
{
    const double end = bench_now() + seconds;
    uint64_t batches = 0;
    for (; batches == 0 || bench_now() < end; batches++)
        one_batch(filter, what, items, random);
    return batches;
}

static void ask(const char *path, double seconds)
{
    tamis_store *store;
    tamis_filter *filter;
    struct tamis_segment_stat stat = {.size = sizeof stat};
    uint64_t random = SEED;
    bench_done(tamis_store_open(path, 0, &store));
    bench_done(tamis_filter_open(store, "beyond", TAMIS_OPEN_NO_SYNC, &filter));
    bench_done(tamis_filter_segment(filter, 0, &stat));
    const uint64_t items = stat.capacity / 10;
    for (enum what what = HIT; what <= ADD; what++) {
        (void)batches_for(filter, what, items, seconds, &random);
        const struct use before = use_now();
        const double start = bench_now();
        const uint64_t batches = batches_for(filter, what, items, seconds, &random);
        const double took = bench_now() - start, count = (double)(batches * BATCH);
        const struct use after = use_now();
        printf("  %-5s %12.0f %10.1f %10.2f %10.2f %8.3f\n", names[what], count / took,
               took * 1e9 / count, (double)(after.read_bytes - before.read_bytes) / count / 1e3,
               (double)(after.written_bytes - before.written_bytes) / count / 1e3,
               (double)(after.faults - before.faults) / count);
        (void)fflush(stdout);
    }
    bench_done(tamis_filter_close(filter));
    tamis_store_close(store);
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "make") == 0)
        make(argv[2], strtoull(argv[3], NULL, 10),
             strcmp(argv[4], "huge") == 0 ? TAMIS_PAGES_HUGE : TAMIS_PAGES_SMALL);
    else if (argc == 4 && strcmp(argv[1], "ask") == 0)
        ask(argv[2], strtod(argv[3], NULL));
    else
        errx(2, "usage: bench_beyond make STORE BYTES small|huge; bench_beyond ask STORE SECONDS");
    return 0;
}
