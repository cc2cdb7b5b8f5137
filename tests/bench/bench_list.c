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
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tamis.h"

static char last_name[32];

static void check(int rc)
{
    if (rc >= 0) return;
    (void)fprintf(stderr, "bench_list: %s\n", tamis_last_error());
    exit(1);
}

static double now_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void make_filters(tamis_store *store, unsigned long count)
{
    const struct tamis_filter_spec spec = {
        .size = sizeof spec, .capacity = 1000, .on_full = TAMIS_ON_FULL_WARN};
    for (unsigned long i = 0; i < count; i++) {
        (void)snprintf(last_name, sizeof last_name, "filter-%08lu", i);
        check(tamis_filter_create(store, last_name, &spec, NULL));
    }
}

static int ignore(void *context, const struct tamis_filter_stat *stat)
{
    (void)context, (void)stat;
    return 0;
}

static void list(tamis_store *store)
{
    check(tamis_store_list(store, NULL, ignore, NULL));
}

static void list_live(tamis_store *store)
{
    check(tamis_store_list_live(store, NULL, ignore, NULL));
}

static void open_and_close(tamis_store *store)
{
    tamis_filter *filter;
    check(tamis_filter_open(store, last_name, 0, &filter));
    check(tamis_filter_close(filter));
}

static void print_least(const char *what, void (*call)(tamis_store *store), tamis_store *store)
{
    double least = 1e300;
    for (int run = 0; run < 5; run++) {
        const double begin = now_ms();
        call(store);
        const double took = now_ms() - begin;
        if (took < least) least = took;
    }
    printf("%-16s %12.3f ms\n", what, least);
}

int main(int argc, char **argv)
{
    const unsigned long filters = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000;
    const char *parent = argc > 2 ? argv[2] : getenv("TMPDIR");
    char path[4096], command[4200];
    (void)snprintf(path, sizeof path, "%s/tamis-bench-XXXXXX", parent ? parent : "/tmp");
    if (filters == 0 || mkdtemp(path) == NULL) {
        perror(path);
        return 1;
    }
    tamis_store *store;
    check(tamis_store_open(path, TAMIS_CREATE, &store));
    const double begin = now_ms();
    make_filters(store, filters);
    printf("%-16s %12.3f ms for %lu filters\n", "create", now_ms() - begin, filters);
    print_least("list", list, store);
    print_least("live list", list_live, store);
    print_least("open and close", open_and_close, store);
    tamis_store_close(store);
    (void)snprintf(command, sizeof command, "rm -r '%s'", path);
    return system(command) == 0 ? 0 : 1;
}
