/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_open.c: what opening a filter and answering the first key costs, against the size.
 *
 *     bench_open [DIRECTORY]      a store is made there (default: $TMPDIR or /tmp) and removed
 *
 * For sizes from 1 MiB to 2 GiB: make a filter, touch all of it once, close it; then 15 times open,
 * contains, close.  Prints the least and the median microseconds of each step.  The library's time
 * for "opening and the first key" is open plus first key; opening the store is shown too.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tamis.h"

#define RUNS 15

static double now_us(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void check(int rc)
{
    if (rc >= 0) return;
    (void)fprintf(stderr, "bench_open: %s\n", tamis_last_error());
    exit(1);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_column(double *us)
{
    qsort(us, RUNS, sizeof *us, ascending);
    printf("  %8.1f %8.1f", us[0], us[RUNS / 2]);
}

static void bench_size(const char *path, uint64_t bytes)
{
    double store_us[RUNS], open_us[RUNS], first_us[RUNS];
    const struct tamis_filter_spec spec = {.size = sizeof spec, .m_bits = bytes * 8, .k = 7};
    struct tamis_segment_stat stat = {.size = sizeof stat};
    tamis_store *store;
    tamis_filter *filter;
    check(tamis_store_open(path, TAMIS_CREATE, &store));
    check(tamis_filter_create(store, "bench", &spec, &filter));
    check(tamis_filter_add(filter, "first", 5));
    check(tamis_filter_fill(filter, 0, &stat)); /* the cache is warm */
    check(tamis_filter_close(filter));
    tamis_store_close(store);
    for (int run = 0; run < RUNS; run++) {
        const double start = now_us();
        check(tamis_store_open(path, 0, &store));
        const double store_open = now_us();
        check(tamis_filter_open(store, "bench", 0, &filter));
        const double filter_open = now_us();
        check(tamis_filter_contains(filter, "first", 5));
        const double answered = now_us();
        check(tamis_filter_close(filter));
        tamis_store_close(store);
        store_us[run] = store_open - start;
        open_us[run] = filter_open - store_open;
        first_us[run] = answered - filter_open;
    }
    printf("%6" PRIu64 " MiB", bytes >> 20);
    print_column(store_us);
    print_column(open_us);
    print_column(first_us);
    printf("\n");
    check(tamis_store_open(path, 0, &store));
    check(tamis_filter_drop(store, "bench"));
    tamis_store_close(store);
}

int main(int argc, char **argv)
{
    const char *parent = argc > 1 ? argv[1] : getenv("TMPDIR");
    char path[4096], command[4200];
    (void)snprintf(path, sizeof path, "%s/tamis-bench-XXXXXX", parent ? parent : "/tmp");
    if (mkdtemp(path) == NULL) {
        perror(path);
        return 1;
    }
    printf("microseconds, least and median of %d\n", RUNS);
    printf("      size       open the store    open the filter        first key\n");
    for (uint64_t mib = 1; mib <= 2048; mib *= mib == 1 ? 32 : 8)
        bench_size(path, mib << 20);
    (void)snprintf(command, sizeof command, "rm -r '%s'", path);
    return system(command) == 0 ? 0 : 1;
}
