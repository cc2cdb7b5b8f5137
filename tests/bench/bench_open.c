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

#include "bench.h"

#define RUNS 15

static void print_column(double *seconds)
{
    const double median = bench_median(seconds, RUNS);
    printf("  %8.1f %8.1f", 1e6 * seconds[0], 1e6 * median);
}

static void bench_size(const char *path, uint64_t bytes)
{
    double store_s[RUNS], open_s[RUNS], first_s[RUNS];
    const struct tamis_filter_spec spec = {.size = sizeof spec, .m_bits = bytes * 8, .k = 7};
    struct tamis_segment_stat stat = {.size = sizeof stat};
    tamis_store *store;
    tamis_filter *filter;
    bench_done(tamis_store_open(path, TAMIS_OPEN_CREATE, &store));
    bench_done(tamis_filter_create(store, "bench", &spec, &filter));
    bench_done(tamis_filter_add(filter, "first", 5));
    bench_done(tamis_filter_fill(filter, 0, &stat)); /* the cache is warm */
    bench_done(tamis_filter_close(filter));
    tamis_store_close(store);
    for (int run = 0; run < RUNS; run++) {
        const double start = bench_now();
        bench_done(tamis_store_open(path, 0, &store));
        const double store_open = bench_now();
        bench_done(tamis_filter_open(store, "bench", 0, &filter));
        const double filter_open = bench_now();
        bench_done(tamis_filter_contains(filter, "first", 5));
        const double answered = bench_now();
        bench_done(tamis_filter_close(filter));
        tamis_store_close(store);
        store_s[run] = store_open - start;
        open_s[run] = filter_open - store_open;
        first_s[run] = answered - filter_open;
    }
    printf("%6" PRIu64 " MiB", bytes >> 20);
    print_column(store_s);
    print_column(open_s);
    print_column(first_s);
    printf("\n");
    bench_done(tamis_store_open(path, 0, &store));
    bench_done(tamis_filter_drop(store, "bench"));
    tamis_store_close(store);
}

int main(int argc, char **argv)
{
    const char *path = bench_directory(argc > 1 ? argv[1] : NULL);
    printf("microseconds, least and median of %d\n", RUNS);
    printf("      size       open the store    open the filter        first key\n");
    for (uint64_t mib = 1; mib <= 2048; mib *= mib == 1 ? 32 : 8)
        bench_size(path, mib << 20);
    return 0;
}
