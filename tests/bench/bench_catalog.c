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
#include <stdlib.h>
#include <time.h>

#include "tamis.h"

#define RUNS 101

static const struct tamis_filter_spec spec = {.size = sizeof spec, .capacity = 10};

static double now_us(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void check(int rc)
{
    if (rc >= 0) return;
    (void)fprintf(stderr, "bench_catalog: %s\n", tamis_last_error());
    exit(1);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_median(double *us)
{
    qsort(us, RUNS, sizeof *us, ascending);
    printf("  %12.1f", us[RUNS / 2]);
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
    check(tamis_store_open(path, TAMIS_CREATE, &store));
    for (uint64_t i = 0; i < filters; i++) {
        name_of(i, name);
        check(tamis_filter_create(store, name, &spec, NULL));
    }
    return store;
}

static void bench_open(tamis_store *store, uint64_t filters)
{
    double open_us[RUNS], absent_us[RUNS];
    tamis_filter *filter;
    char name[32];
    if (filters == 0) check(tamis_filter_create(store, "filter-000000", &spec, NULL));
    for (uint64_t run = 0; run < RUNS; run++) {
        name_of(filters == 0 ? 0 : run * 7919 % filters, name);
        const double start = now_us();
        check(tamis_filter_open(store, name, 0, &filter));
        check(tamis_filter_close(filter));
        open_us[run] = now_us() - start;
        name[10] = 'x';
        const double again = now_us();
        if (tamis_filter_open(store, name, 0, &filter) != TAMIS_ENOTFOUND) exit(1);
        absent_us[run] = now_us() - again;
    }
    if (filters == 0) check(tamis_filter_drop(store, "filter-000000"));
    print_median(open_us);
    print_median(absent_us);
}

static void bench_changes(tamis_store *store)
{
    double create_us[RUNS], rename_us[RUNS], drop_us[RUNS];
    for (int run = 0; run < RUNS; run++) {
        const double start = now_us();
        check(tamis_filter_create(store, "filter-0005x", &spec, NULL));
        const double created = now_us();
        check(tamis_filter_rename(store, "filter-0005x", "filter-0003x"));
        const double renamed = now_us();
        check(tamis_filter_drop(store, "filter-0003x"));
        create_us[run] = created - start;
        rename_us[run] = renamed - created;
        drop_us[run] = now_us() - renamed;
    }
    print_median(create_us);
    print_median(rename_us);
    print_median(drop_us);
}

static void bench_first(const char *path)
{
    double us[RUNS];
    for (int run = 0; run < RUNS; run++) {
        tamis_store *store;
        const double start = now_us();
        check(tamis_store_open(path, 0, &store));
        check(tamis_filter_create(store, "filter-0005x", &spec, NULL));
        us[run] = now_us() - start;
        check(tamis_filter_drop(store, "filter-0005x"));
        tamis_store_close(store);
    }
    print_median(us);
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
