/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peers.c: libbloom, a filter in the memory of one process, of the same capacity and rate, with the
 * same keys.
 *
 * Its figures are KIND/KEYS/PLACE/libbloom/OPERATION/p1.  As filling it to its capacity takes half
 * a minute, --quick leaves it nearly empty and has no misses, which would then be answered by the
 * first bit.
 */
#include "peers.h"

#include <err.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef TAMIS_BENCH_LIBBLOOM
#include <bloom.h>

static const enum operation operations[] = {OP_ADD, OP_HIT, OP_MISS};

const char *peers_version(void)
{
    return bloom_version();
}

static void name_of(char name[96], const struct bench_case *c, enum operation operation)
{
    (void)snprintf(name, 96, "%s/libbloom/%s/p1", c->prefix, operation_names[operation]);
}

bool peers_want(const struct bench_case *c, const struct options *options)
{
    char name[96];
    if (!c->peers || c->capacity > INT_MAX) return false;
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        name_of(name, c, operations[i]);
        if (options_want(options, name)) return true;
    }
    return false;
}

static int64_t open_peer(struct worker *worker, const struct order *order, size_t count)
{
    struct bloom *bloom = calloc(1, sizeof *bloom);
    (void)count;
    if (bloom == NULL || bloom_init(bloom, (int)order->range, 0.01) != 0)
        errx(1, "libbloom has no memory");
    worker->desk->peer = bloom;
    return 0;
}

static int64_t close_peer(struct worker *worker, const struct order *order, size_t count)
{
    (void)order;
    (void)count;
    bloom_free(worker->desk->peer);
    free(worker->desk->peer);
    return 0;
}

static int64_t add_peer(struct worker *worker, const struct order *order, size_t count)
{
    int64_t yes = 0;
    (void)order;
    for (size_t i = 0; i < count; i++)
        yes += bloom_add(worker->desk->peer, worker->stream.keys[i].data,
                         (int)worker->stream.keys[i].bytes) == 0;
    return yes;
}

static int64_t ask_peer(struct worker *worker, const struct order *order, size_t count)
{
    int64_t yes = 0;
    (void)order;
    for (size_t i = 0; i < count; i++)
        yes += bloom_check(worker->desk->peer, worker->stream.keys[i].data,
                           (int)worker->stream.keys[i].bytes);
    return yes;
}

static void sample(const struct bench_case *c, struct order *order, enum operation operation,
                   unsigned level)
{
    char name[96];
    name_of(name, c, operation);
    struct figure *figure = figure_get(name);
    order->run = operation == OP_ADD ? add_peer : ask_peer;
    const struct outcome outcome = crew_run(order);
    figure_add(figure, level, outcome.ns);
    figure->keys += outcome.keys;
    figure->yes += outcome.yes;
}

void peers_run(const struct bench_case *c, const struct options *options)
{
    struct order order = call_order(CALL_SINGLE, OP_ADD);
    const bool whole = !options->quick;
    const unsigned turns = c->levels * c->repeats;
    const uint64_t part = whole ? c->keys / turns : c->sample_keys / 8;
    uint64_t added = 0;
    crew_each(&(struct order){.run = open_peer, .range = c->capacity}, team_processes[TEAM_P1]);
    order.key_set = c->key_set;
    order.seed = options->seed;
    order.batch = STREAM_KEYS;
    order.keys = c->capacity / 100; /* touches every page */
    order.first = UINT64_C(1) << 50;
    order.run = add_peer;
    (void)crew_run(&order);
    order.keys = part;
    for (unsigned turn = 0; turn < turns; turn++, added += part) {
        order.first = added;
        sample(c, &order, OP_ADD, turn / c->repeats);
    }
    order.keys = c->sample_keys;
    for (unsigned repeat = 0; repeat < c->repeats; repeat++) {
        order.range = added;
        sample(c, &order, OP_HIT, 0);
        order.range = 0;
        order.first = (UINT64_C(1) << 49) + repeat * order.keys;
        if (whole) sample(c, &order, OP_MISS, 0);
    }
    crew_each(&(struct order){.run = close_peer}, team_processes[TEAM_P1]);
}

#else

const char *peers_version(void)
{
    return NULL;
}

bool peers_want(const struct bench_case *c, const struct options *options)
{
    (void)c;
    (void)options;
    return false;
}

void peers_run(const struct bench_case *c, const struct options *options)
{
    (void)c;
    (void)options;
}

#endif
