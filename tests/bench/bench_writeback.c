/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_writeback.c: what a device writes for the pages that adds have dirtied, and what reading a
 * filter whole in between makes of that.
 *
 *     bench_writeback [--slow] DIRECTORY DEVICE [MIB]
 *                                                DEVICE: its name in /sys/block, which nothing else
 *                                                may write to (a loop device); as root; 256 MiB
 *                                                unless told
 *
 * For a filter of kind bloom with one bit a key, so that a key is a page: as it was made; opened
 * with nothing of it in the page cache; the same, after a pass over all of it (tamis_filter_fill,
 * tamis_store_verify); after a backup; as a merge made it; and the file as writes of 1 MiB make it,
 * which is how static segments are laid out.  Of each 0.1 %, 1 % and 10 % of its pages are dirtied:
 * bytes written by the device over pages dirtied x 4096, median of 5.  Last, seconds to touch a
 * fresh filter of 1 GiB for the first time, and to read it whole from the disk.  Two more rows are
 * of docs/decisions/0027-pages.md: after a fill in bulk, which had huge pages and has brought small
 * ones back, and with huge pages for good.
 *
 * With --slow instead: what the device writes for 1 to 1,000 new keys a second, after such a fill,
 * by the setting of the pages.  Takes a quarter of an hour.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "tamis.h"

#define RUNS 5
#define PAGE UINT64_C(4096)
#define MIB ((uint64_t)1 << 20)

static void need(int holds, const char *what)
{
    if (holds) return;
    perror(what);
    exit(1);
}

struct bench {
    char store_path[4000], copy_path[4096], stat_path[256];
    uint64_t bytes;
    tamis_store *store;
    tamis_filter *filter;
};

/* The seventh number: sectors of 512 bytes that were written. */
static uint64_t device_bytes(const struct bench *b)
{
    char line[512] = "";
    FILE *file = fopen(b->stat_path, "r");
    need(file != NULL && fgets(line, sizeof line, file) != NULL, b->stat_path);
    (void)fclose(file);
    char *at = line;
    uint64_t value = 0;
    for (int i = 0; i < 7; i++)
        value = strtoull(at, &at, 10);
    return value * 512;
}

/* Each file of the store: forget its pages, or write it anew in pieces of 1 MiB. */
static void each_segment(const struct bench *b, void (*fn)(int fd))
{
    char path[4400];
    (void)snprintf(path, sizeof path, "%s/segments", b->store_path);
    DIR *directory = opendir(path);
    need(directory != NULL, path);
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] == '.') continue;
        const int fd = openat(dirfd(directory), entry->d_name, O_RDWR | O_CLOEXEC);
        need(fd >= 0 && fsync(fd) == 0, entry->d_name);
        fn(fd);
        need(close(fd) == 0, entry->d_name);
    }
    (void)closedir(directory);
}

static void forget_pages(int fd)
{
    need(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0, "posix_fadvise");
}

static void write_large(int fd)
{
    static char piece[MIB];
    struct stat st;
    need(fstat(fd, &st) == 0, "fstat");
    forget_pages(fd);
    for (off_t at = 2 * (off_t)MIB; at < st.st_size; at += (off_t)MIB)
        need(pwrite(fd, piece, MIB, at) == (ssize_t)MIB, "pwrite");
    need(fsync(fd) == 0, "fsync");
}

static void close_all(struct bench *b)
{
    bench_done(tamis_filter_close(b->filter));
    tamis_store_close(b->store);
}

static void open_all(struct bench *b)
{
    bench_done(tamis_store_open(b->store_path, TAMIS_OPEN_CREATE, &b->store));
    bench_done(tamis_filter_open(b->store, "bench", 0, &b->filter));
}

static void make(struct bench *b)
{
    const struct tamis_filter_spec spec = {.size = sizeof spec, .m_bits = b->bytes * 8, .k = 1};
    bench_done(tamis_store_open(b->store_path, TAMIS_OPEN_CREATE, &b->store));
    bench_done(tamis_filter_create(b->store, "bench", &spec, &b->filter));
}

static void reopen_cold(struct bench *b)
{
    close_all(b);
    each_segment(b, forget_pages);
    open_all(b);
}

/* ---- How the pages came into the cache ------------------------------------------------------- */

static void as_made(struct bench *b)
{
    (void)b;
}

static void after_fill(struct bench *b)
{
    struct tamis_segment_stat stat = {.size = sizeof stat};
    reopen_cold(b);
    bench_done(tamis_filter_fill(b->filter, 0, &stat));
}

static void after_verify(struct bench *b)
{
    reopen_cold(b);
    bench_done(tamis_store_verify(b->store, NULL, NULL, NULL));
}

static void after_backup(struct bench *b)
{
    reopen_cold(b);
    bench_done(tamis_store_backup(b->store, b->copy_path, NULL, NULL));
    scratch_remove(b->copy_path);
}

static void as_merged(struct bench *b)
{
    const struct tamis_filter_spec spec = {.size = sizeof spec, .m_bits = b->bytes * 8, .k = 1};
    tamis_filter *other;
    const struct tamis_merge merge = {.size = sizeof merge, .sources = &other, .count = 1};
    bench_done(tamis_filter_create(b->store, "other", &spec, &other));
    bench_done(tamis_filter_add(other, "key", 3));
    bench_done(tamis_filter_merge(b->filter, &merge));
    bench_done(tamis_filter_close(other));
    bench_done(tamis_filter_drop(b->store, "other"));
}

static void in_large_writes(struct bench *b)
{
    close_all(b);
    each_segment(b, write_large);
    open_all(b);
}

/* As `tamis add` fills from a file: in huge pages, and the close brings small ones. */
static void after_bulk(struct bench *b)
{
    enum { BATCH = 4096 };
    static uint64_t numbers[BATCH];
    static struct tamis_key keys[BATCH];
    bench_done(tamis_filter_prepare(b->filter, b->bytes / PAGE * 2));
    for (uint64_t done = 0; done < b->bytes / PAGE * 2; done += BATCH) {
        for (uint64_t i = 0; i < BATCH; i++) {
            numbers[i] = (uint64_t)1 << 60 | (done + i);
            keys[i] = (struct tamis_key){&numbers[i], sizeof numbers[i]};
        }
        bench_done(tamis_filter_add_batch(b->filter, keys, BATCH, NULL));
    }
    close_all(b);
    open_all(b);
}

static void in_huge_pages(struct bench *b)
{
    bench_done(tamis_filter_set_pages(b->store, "bench", TAMIS_PAGES_HUGE));
    bench_done(tamis_filter_sync(b->filter));
}

static const struct {
    const char *name;
    void (*prepare)(struct bench *b);
} ways[] = {
    {"as made", as_made},
    {"reopened, not in memory", reopen_cold},
    {"after fill", after_fill},
    {"after verify", after_verify},
    {"after backup", after_backup},
    {"merged into", as_merged},
    {"large writes", in_large_writes},
    {"after a fill in bulk", after_bulk},
    {"huge pages", in_huge_pages},
};

/* ---- Dirtying -------------------------------------------------------------------------------- */

/* Returns the bytes of the pages that were dirtied. */
static double add_keys(const struct bench *b, uint64_t count, uint64_t salt)
{
    uint8_t *touched = calloc(1, b->bytes / PAGE);
    double dirtied = 0;
    need(touched != NULL, "calloc");
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t key = salt << 40 | i;
        uint64_t position = 0;
        char hash[64];
        struct tamis_explanation e = {.size = sizeof e,
                                      .hashes = hash,
                                      .hashes_bytes = sizeof hash,
                                      .positions = &position,
                                      .positions_max = 1};
        bench_done(tamis_filter_explain(b->filter, 0, &key, sizeof key, &e));
        const int64_t added = bench_done(tamis_filter_add(b->filter, &key, sizeof key));
        if (added == 1 && touched[position / 8 / PAGE]++ == 0) dirtied += (double)PAGE;
    }
    free(touched);
    return dirtied;
}

static double written_per_dirtied(struct bench *b, size_t way, double share)
{
    double ratio[RUNS];
    for (uint64_t run = 0; run < RUNS; run++) {
        make(b);
        ways[way].prepare(b);
        bench_done(tamis_filter_sync(b->filter));
        sync();
        const uint64_t before = device_bytes(b);
        const uint64_t pages = b->bytes / PAGE;
        const double dirtied = add_keys(b, (uint64_t)((double)pages * share), run + 1);
        bench_done(tamis_filter_sync(b->filter));
        ratio[run] = (double)(device_bytes(b) - before) / dirtied;
        bench_done(tamis_filter_close(b->filter));
        bench_done(tamis_filter_drop(b->store, "bench"));
        tamis_store_close(b->store);
    }
    return bench_median(ratio, RUNS);
}

/* The first touch of a fresh filter, and a pass over all of it from the disk. */
static void time_passes(struct bench *b)
{
    double touch[RUNS], pass[RUNS];
    struct tamis_segment_stat stat = {.size = sizeof stat};
    b->bytes = 1024 * MIB;
    for (int run = 0; run < RUNS; run++) {
        make(b);
        double begin = bench_now();
        bench_done(tamis_filter_fill(b->filter, 0, &stat));
        touch[run] = bench_now() - begin;
        reopen_cold(b);
        begin = bench_now();
        bench_done(tamis_filter_fill(b->filter, 0, &stat));
        pass[run] = bench_now() - begin;
        bench_done(tamis_filter_close(b->filter));
        bench_done(tamis_filter_drop(b->store, "bench"));
        tamis_store_close(b->store);
    }
    printf("1 GiB: touched for the first time %.2f s, read whole from the disk %.2f s\n",
           bench_median(touch, RUNS), bench_median(pass, RUNS));
}

/* ---- A slow adder ---------------------------------------------------------------------------- */

#define SLOW_SECONDS 70 /* two write-backs by the kernel */
#define SYNC_SECONDS 10

static void sleep_until(double when)
{
    const double left = when - bench_now();
    if (left > 0) (void)usleep((useconds_t)(left * 1e6));
}

/* Bytes that the device writes for so many new keys a second, with a sync now and then, after a
 * fill in bulk. */
static double written_by_slow_adder(struct bench *b, uint32_t pages, uint64_t rate)
{
    make(b);
    bench_done(tamis_filter_set_pages(b->store, "bench", pages));
    after_bulk(b);
    bench_done(tamis_filter_sync(b->filter));
    sync();
    const uint64_t before = device_bytes(b);
    const double begin = bench_now();
    for (uint64_t second = 0; second < SLOW_SECONDS; second++) {
        for (uint64_t i = 0; i < rate; i++) {
            const uint64_t key = second << 32 | i;
            bench_done(tamis_filter_add(b->filter, &key, sizeof key));
        }
        if (second % SYNC_SECONDS == SYNC_SECONDS - 1) bench_done(tamis_filter_sync(b->filter));
        sleep_until(begin + (double)second + 1);
    }
    bench_done(tamis_filter_sync(b->filter));
    sync();
    const double written = (double)(device_bytes(b) - before);
    bench_done(tamis_filter_close(b->filter));
    bench_done(tamis_filter_drop(b->store, "bench"));
    tamis_store_close(b->store);
    return written;
}

static void run_slow_adders(struct bench *b)
{
    static const uint32_t sorts[] = {TAMIS_PAGES_SMALL, TAMIS_PAGES_AUTO, TAMIS_PAGES_HUGE};
    printf("MiB written in %d s, a sync each %d s, after a fill\n"
           "new keys a second     small      auto      huge\n",
           SLOW_SECONDS, SYNC_SECONDS);
    for (uint64_t rate = 1; rate <= 1000; rate *= 10) {
        printf("%17" PRIu64, rate);
        for (size_t i = 0; i < 3; i++) {
            printf(" %9.1f", written_by_slow_adder(b, sorts[i], rate) / (double)MIB);
            (void)fflush(stdout);
        }
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    static struct bench b;
    const bool slow = argc > 1 && strcmp(argv[1], "--slow") == 0;
    if (slow) {
        argc--;
        argv++;
    }
    if (argc < 3) {
        (void)fprintf(stderr, "use: bench_writeback [--slow] DIRECTORY DEVICE [MIB]\n");
        return 2;
    }
    (void)snprintf(b.store_path, sizeof b.store_path, "%s/bench-writeback", argv[1]);
    (void)snprintf(b.copy_path, sizeof b.copy_path, "%s-copy", b.store_path);
    (void)snprintf(b.stat_path, sizeof b.stat_path, "/sys/block/%s/stat", argv[2]);
    b.bytes = (argc > 3 ? strtoull(argv[3], NULL, 10) : 256) * MIB;
    if (slow) {
        run_slow_adders(&b);
        return 0;
    }
    printf("bytes written / (pages dirtied x 4096)   0.1 %%     1 %%    10 %%\n");
    for (size_t way = 0; way < sizeof ways / sizeof ways[0]; way++) {
        printf("%-38s", ways[way].name);
        for (double share = 0.001; share < 0.11; share *= 10)
            printf(" %7.2f", written_per_dirtied(&b, way, share));
        printf("\n");
        (void)fflush(stdout);
    }
    time_passes(&b);
    return 0;
}
