/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_durable.c: adding to a durable filter, against the device's own rate of syncs.
 *
 *     bench_durable [DIRECTORY]      a store is made there (default: $TMPDIR or /tmp) and removed
 *
 * First the device: 4 KiB over a file that was written before, and fdatasync(), for two seconds.
 * Then adds of new keys in batches of 1, 100 and 10,000, by 1 and by 2 processes, for two seconds
 * each: keys and syncs a second, and the syncs against the device's.  Then the same keys again, one
 * by one.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define SECONDS 2.0
#define BATCH_MAX 10000

static double measure_device(const char *directory)
{
    enum { BYTES = 4 << 20, BLOCK = 4096 };
    static char block[BLOCK];
    char path[4200];
    (void)snprintf(path, sizeof path, "%.4096s/device", directory);
    const int fd = open(path, O_CREAT | O_RDWR, 0600);
    for (int at = 0; fd >= 0 && at < BYTES; at += BLOCK)
        if (pwrite(fd, block, BLOCK, at) != BLOCK) exit(1);
    if (fd < 0 || fsync(fd) != 0) exit(1);
    unsigned syncs = 0;
    const double start = bench_now();
    for (; bench_now() - start < SECONDS; syncs++) {
        memset(block, (int)syncs, sizeof block);
        if (pwrite(fd, block, BLOCK, (off_t)(syncs % (BYTES / BLOCK)) * BLOCK) != BLOCK) exit(1);
        if (fdatasync(fd) != 0) exit(1);
    }
    const double rate = syncs / (bench_now() - start);
    (void)close(fd);
    (void)unlink(path);
    return rate;
}

/* Adds from `first` on until the time is over; returns how many keys. */
static uint64_t add_for(const char *store_path, uint64_t first, size_t batch)
{
    static struct tamis_key keys[BATCH_MAX];
    static uint64_t numbers[BATCH_MAX];
    tamis_store *store;
    tamis_filter *filter;
    bench_done(tamis_store_open(store_path, 0, &store));
    bench_done(tamis_filter_open(store, "bench", 0, &filter));
    uint64_t n = first;
    const double start = bench_now();
    while (bench_now() - start < SECONDS) {
        for (size_t i = 0; i < batch; i++) {
            numbers[i] = n++;
            keys[i] = (struct tamis_key){&numbers[i], sizeof numbers[i]};
        }
        bench_done(batch == 1 ? tamis_filter_add(filter, keys[0].data, keys[0].bytes)
                              : tamis_filter_add_batch(filter, keys, batch, NULL));
    }
    bench_done(tamis_filter_close(filter));
    tamis_store_close(store);
    return n - first;
}

static void add_again(const char *store_path, uint64_t first, uint64_t count)
{
    tamis_store *store;
    tamis_filter *filter;
    bench_done(tamis_store_open(store_path, 0, &store));
    bench_done(tamis_filter_open(store, "bench", 0, &filter));
    double start = 0;
    for (int round = 0; round <= 100; round++) { /* the first brings its pages in */
        if (round == 1) start = bench_now();
        for (uint64_t n = first; n < first + count; n++)
            bench_done(tamis_filter_add(filter, &n, sizeof n));
    }
    printf("again, one by one: %.1f ns a key\n", (bench_now() - start) * 1e9 / (double)count / 100);
    bench_done(tamis_filter_close(filter));
    tamis_store_close(store);
}

static void bench(const char *store_path, double device, size_t batch, unsigned processes,
                  uint64_t *added)
{
    static uint64_t first = 1;
    for (unsigned i = 0; i < processes; i++) {
        (void)fflush(NULL);
        if (fork() != 0) continue;
        added[i] = add_for(store_path, first + i * ((uint64_t)1 << 40), batch);
        _exit(0);
    }
    uint64_t keys = 0;
    for (unsigned i = 0; i < processes; i++) {
        int status;
        if (wait(&status) < 0 || status != 0) exit(1);
    }
    for (unsigned i = 0; i < processes; i++)
        keys += added[i];
    first += (uint64_t)1 << 42;
    const double syncs = (double)keys / (double)batch / SECONDS;
    printf("%6zu %10u %12.0f %10.0f %8.2f\n", batch, processes, (double)keys / SECONDS, syncs,
           syncs / device);
}

int main(int argc, char **argv)
{
    const char *directory = bench_directory(argc > 1 ? argv[1] : NULL);
    uint64_t *added = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    tamis_store *store;
    bench_done(tamis_store_open(directory, TAMIS_OPEN_CREATE, &store));
    bench_done(tamis_filter_create(
        store, "bench", SPEC(.capacity = 100000000, .fp_rate = 0.01, .flags = TAMIS_FILTER_DURABLE),
        NULL));
    tamis_store_close(store);
    const double device = measure_device(directory);
    printf("device: %.0f syncs/s of 4 KiB over what was written\n\n", device);
    printf(" batch  processes       keys/s    syncs/s   to device\n");
    static const size_t batches[] = {1, 100, BATCH_MAX};
    for (size_t i = 0; i < 3; i++)
        for (unsigned processes = 1; processes <= 2; processes++)
            bench(directory, device, batches[i], processes, added);
    add_again(directory, 1, 1000);
    return 0;
}
