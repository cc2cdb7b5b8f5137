/* SPDX-License-Identifier: BSD-2-Clause */
#include "life.h"

#include <err.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "crew.h"

/* It has opened nothing yet. */
#define OTHER_PROCESS (1u << 1)

static int64_t now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t sync_filter(struct worker *worker, const struct order *order, size_t count)
{
    (void)order;
    (void)count;
    const int64_t start = now_ns();
    const int rc = tamis_filter_sync(worker->desk->filter);
    return rc < 0 ? rc : now_ns() - start;
}

double life_sync(void)
{
    return (double)crew_each(&(struct order){.run = sync_filter}, team_processes[TEAM_P1]) / 1e9;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static int64_t look_at_huge(struct worker *worker, const struct order *order, size_t count)
{
    struct tamis_filter_mapped mapped = {.size = sizeof mapped};
    (void)order;
    (void)count;
    const int rc = tamis_filter_mapped(worker->desk->filter, &mapped);
    return rc < 0 ? rc : (int64_t)mapped.huge_bytes;
}

static int64_t look_at_tables(struct worker *worker, const struct order *order, size_t count)
{
    char line[256];
    long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    (void)worker;
    (void)order;
    (void)count;
    if (file == NULL) err(1, "/proc/self/status");
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "VmPTE: %ld", &kib) == 1) break;
    (void)fclose(file);
    return (int64_t)kib << 10;
}

void life_look(struct bench_case *c)
{
    c->table_bytes = crew_each(&(struct order){.run = look_at_tables}, team_processes[TEAM_P1]);
    c->huge_bytes = crew_each(&(struct order){.run = look_at_huge}, team_processes[TEAM_P1]);
}

/* ---- Opening --------------------------------------------------------------------------------- */

static int64_t open_once(struct worker *worker, const struct order *order, size_t count)
{
    tamis_store *store;
    tamis_filter *filter;
    (void)count;
    keys_in_order(&worker->stream, order->key_set, order->seed, 0, 1);
    const struct tamis_key *key = &worker->stream.keys[0];
    const int64_t start = now_ns();
    check(tamis_store_open(order->path, 0, &store));
    check(tamis_filter_open(store, "bench", TAMIS_OPEN_NO_SYNC, &filter));
    const int there = tamis_filter_contains(filter, key->data, key->bytes);
    const int64_t ns = now_ns() - start;
    if (there != 1) errx(1, "the first key is absent from a filter that was opened again");
    check(tamis_filter_close(filter));
    tamis_store_close(store);
    return ns;
}

double life_open(const struct bench_case *c, const struct options *options, const char *store)
{
    struct order order = {.run = open_once, .key_set = c->key_set, .seed = options->seed};
    double least = 0;
    (void)snprintf(order.path, sizeof order.path, "%s", store);
    for (unsigned repeat = 0; repeat < c->repeats; repeat++) {
        const double us = (double)crew_each(&order, OTHER_PROCESS) / 1e3;
        if (repeat == 0 || us < least) least = us;
    }
    return least;
}
