/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_catalog.c: what calls that need the catalog cost, against the number of filters in it.
 *
 *     bench_catalog DIRECTORY     stores of 0, 10, 1,000 and 10,000 filters are made there; a later
 *                                 run uses them again
 *
 * Prints the median microseconds of 101 of each.  All but the last column are of one store handle;
 * "first create" opens a store of its own each time, as a command does.  In the store of 0 filters
 * the filter that is opened is the only one, and the other columns are measured without it.
 */
#include <inttypes.h>
#include <stdio.h>

#include "bench.h"

#define RUNS 101

static const struct tamis_filter_spec spec = {.size = sizeof spec, .capacity = 10};

static void print_median(double *seconds)
{
    printf("  %12.1f", 1e6 * bench_median(seconds, RUNS));
}

static void name_of(uint64_t number, char name[32])
{
    (void)snprintf(name, 32, "filter-%06" PRIu64, number);
}

static tamis_store *open_filled(const char *path, uint64_t filters)
{
    tamis_store *store;
    char name[32];
    if (tamis_store_open(path, 0, &store) == 0) return store;
    bench_done(tamis_store_open(path, TAMIS_OPEN_CREATE, &store));
    for (uint64_t i = 0; i < filters; i++) {
        name_of(i, name);
        bench_done(tamis_filter_create(store, name, &spec, NULL));
    }
    return store;
}

static void bench_open(tamis_store *store, uint64_t filters)
{
    double open_s[RUNS], absent_s[RUNS];
    tamis_filter *filter;
    char name[32];
    if (filters == 0) bench_done(tamis_filter_create(store, "filter-000000", &spec, NULL));
    for (uint64_t run = 0; run < RUNS; run++) {
        name_of(filters == 0 ? 0 : run * 7919 % filters, name);
        const double start = bench_now();
        bench_done(tamis_filter_open(store, name, 0, &filter));
        bench_done(tamis_filter_close(filter));
        open_s[run] = bench_now() - start;
        name[10] = 'x';
        const double again = bench_now();
        if (tamis_filter_open(store, name, 0, &filter) != TAMIS_ENOTFOUND) exit(1);
        absent_s[run] = bench_now() - again;
    }
    if (filters == 0) bench_done(tamis_filter_drop(store, "filter-000000"));
    print_median(open_s);
    print_median(absent_s);
}

static void bench_changes(tamis_store *store)
{
    double create_s[RUNS], rename_s[RUNS], drop_s[RUNS];
    for (int run = 0; run < RUNS; run++) {
        const double start = bench_now();
        bench_done(tamis_filter_create(store, "filter-0005x", &spec, NULL));
        const double created = bench_now();
        bench_done(tamis_filter_rename(store, "filter-0005x", "filter-0003x"));
        const double renamed = bench_now();
        bench_done(tamis_filter_drop(store, "filter-0003x"));
        create_s[run] = created - start;
        rename_s[run] = renamed - created;
        drop_s[run] = bench_now() - renamed;
    }
    print_median(create_s);
    print_median(rename_s);
    print_median(drop_s);
}

static void bench_first(const char *path)
{
    double first_s[RUNS];
    for (int run = 0; run < RUNS; run++) {
        tamis_store *store;
        const double start = bench_now();
        bench_done(tamis_store_open(path, 0, &store));
        bench_done(tamis_filter_create(store, "filter-0005x", &spec, NULL));
        first_s[run] = bench_now() - start;
        bench_done(tamis_filter_drop(store, "filter-0005x"));
        tamis_store_close(store);
    }
    print_median(first_s);
}

int main(int argc, char **argv)
{
    static const uint64_t sizes[] = {0, 10, 1000, 10000};
    if (argc != 2) {
        (void)fprintf(stderr, "usage: bench_catalog DIRECTORY\n");
        return 2;
    }
    printf("microseconds, median of %d\n", RUNS);
    printf("filters    open+close     not found        create        rename          drop  first "
           "create\n");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char path[4200];
        (void)snprintf(path, sizeof path, "%s/%" PRIu64, argv[1], sizes[i]);
        tamis_store *store = open_filled(path, sizes[i]);
        printf("%7" PRIu64, sizes[i]);
        bench_open(store, sizes[i]);
        bench_changes(store);
        tamis_store_close(store);
        bench_first(path);
        printf("\n");
    }
    return 0;
}
