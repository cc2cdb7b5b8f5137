/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_list.c: what it costs to make many filters, to list them, and to open one of them.
 *
 *     bench_list [FILTERS [DIRECTORY]]   10,000 filters by default; the store is made under
 * DIRECTORY (default: $TMPDIR or /tmp) and removed
 *
 * Prints milliseconds: of the creation of all, and the least of five of each kind of list, and of
 * open and close of the last filter.  docs/decisions/0002 has what they were.
 */
#include <stdio.h>

#include "bench.h"

static char last_name[32];

static void make_filters(tamis_store *store, unsigned long count)
{
    const struct tamis_filter_spec spec = {
        .size = sizeof spec, .capacity = 1000, .on_full = TAMIS_ON_FULL_WARN};
    for (unsigned long i = 0; i < count; i++) {
        (void)snprintf(last_name, sizeof last_name, "filter-%08lu", i);
        bench_done(tamis_filter_create(store, last_name, &spec, NULL));
    }
}

static int ignore(void *context, const struct tamis_filter_stat *stat)
{
    (void)context, (void)stat;
    return 0;
}

static void list(tamis_store *store)
{
    bench_done(tamis_store_list(store, NULL, ignore, NULL));
}

static void list_live(tamis_store *store)
{
    bench_done(tamis_store_list_live(store, NULL, ignore, NULL));
}

static void open_and_close(tamis_store *store)
{
    tamis_filter *filter;
    bench_done(tamis_filter_open(store, last_name, 0, &filter));
    bench_done(tamis_filter_close(filter));
}

static void print_least(const char *what, void (*call)(tamis_store *store), tamis_store *store)
{
    double least = 1e300;
    for (int run = 0; run < 5; run++) {
        const double begin = bench_now();
        call(store);
        const double took = bench_now() - begin;
        if (took < least) least = took;
    }
    printf("%-16s %12.3f ms\n", what, 1e3 * least);
}

int main(int argc, char **argv)
{
    const unsigned long filters = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000;
    if (filters == 0) errx(2, "usage: bench_list [FILTERS [DIRECTORY]]");
    tamis_store *store;
    bench_done(
        tamis_store_open(bench_directory(argc > 2 ? argv[2] : NULL), TAMIS_OPEN_CREATE, &store));
    const double begin = bench_now();
    make_filters(store, filters);
    printf("%-16s %12.3f ms for %lu filters\n", "create", 1e3 * (bench_now() - begin), filters);
    print_least("list", list, store);
    print_least("live list", list_live, store);
    print_least("open and close", open_and_close, store);
    tamis_store_close(store);
    return 0;
}
