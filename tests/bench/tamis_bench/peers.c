/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peers.c: filters of other libraries in the memory of one process, of the same capacity and rate,
 * with the same keys.
 *
 * Their figures are KIND/KEYS/PLACE/libbloom/OPERATION/p1, or boost in place of libbloom.  libbloom
 * takes one key a call.  As filling it to its capacity takes half a minute, --quick leaves it
 * nearly empty and has no misses, which would then be answered by the first bit.  Boost.Bloom takes
 * many 8-byte keys a call.
 */
#include "peers.h"

#include <err.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef TAMIS_BENCH_LIBBLOOM
#include <bloom.h>
#endif
#ifdef TAMIS_BENCH_BOOST
#include "boost.h"
#endif

/* Beyond that its private memory is too much beside the filter's. */
#define BOOST_KEYS_MAX 1000000000u

typedef int64_t peer_call(struct worker *worker, const struct order *order, size_t count);

struct peer {
    const char *name; /* NULL: not built in */
    peer_call *open, *close, *add, *ask;
    bool quickly_filled;
};

enum { LIBBLOOM, BOOST, PEERS };
_Static_assert(PEERS == PEERS_MAX, "a place for each in a desk");

static const enum operation operations[] = {OP_ADD, OP_HIT, OP_MISS};

/* ---- libbloom -------------------------------------------------------------------------------- */

#ifdef TAMIS_BENCH_LIBBLOOM

const char *peers_version(void)
{
    return bloom_version();
}

static int64_t open_libbloom(struct worker *worker, const struct order *order, size_t count)
{
    struct bloom *bloom = calloc(1, sizeof *bloom);
    (void)count;
    if (bloom == NULL || bloom_init(bloom, (int)order->range, 0.01) != 0)
        errx(1, "libbloom has no memory");
    worker->desk->peers[LIBBLOOM] = bloom;
    return 0;
}

static int64_t close_libbloom(struct worker *worker, const struct order *order, size_t count)
{
    (void)order;
    (void)count;
    bloom_free(worker->desk->peers[LIBBLOOM]);
    free(worker->desk->peers[LIBBLOOM]);
    return 0;
}

static int64_t add_libbloom(struct worker *worker, const struct order *order, size_t count)
{
    int64_t yes = 0;
    (void)order;
    for (size_t i = 0; i < count; i++)
        yes += bloom_add(worker->desk->peers[LIBBLOOM], worker->stream.keys[i].data,
                         (int)worker->stream.keys[i].bytes) == 0;
    return yes;
}

static int64_t ask_libbloom(struct worker *worker, const struct order *order, size_t count)
{
    int64_t yes = 0;
    (void)order;
    for (size_t i = 0; i < count; i++)
        yes += bloom_check(worker->desk->peers[LIBBLOOM], worker->stream.keys[i].data,
                           (int)worker->stream.keys[i].bytes);
    return yes;
}

#else

const char *peers_version(void)
{
    return NULL;
}

#endif

/* ---- Boost.Bloom ----------------------------------------------------------------------------- */

#ifdef TAMIS_BENCH_BOOST

bool peers_have_boost(void)
{
    return true;
}

static int64_t open_boost(struct worker *worker, const struct order *order, size_t count)
{
    (void)count;
    worker->desk->peers[BOOST] = boost_open(order->range, 0.01);
    if (worker->desk->peers[BOOST] == NULL) errx(1, "Boost.Bloom has no memory");
    return 0;
}

static int64_t close_boost(struct worker *worker, const struct order *order, size_t count)
{
    (void)order;
    (void)count;
    boost_close(worker->desk->peers[BOOST]);
    return 0;
}

/* Keys of 8 bytes lie one behind the other in the stream. */
static const uint64_t *numbers_of(const struct worker *worker)
{
    return (const uint64_t *)(const void *)worker->stream.bytes;
}

static int64_t add_boost(struct worker *worker, const struct order *order, size_t count)
{
    for (size_t at = 0; at < count; at += order->batch)
        boost_add(worker->desk->peers[BOOST], numbers_of(worker) + at,
                  count - at < order->batch ? count - at : order->batch);
    return 0;
}

static int64_t ask_boost(struct worker *worker, const struct order *order, size_t count)
{
    int64_t yes = 0;
    for (size_t at = 0; at < count; at += order->batch)
        yes += boost_ask(worker->desk->peers[BOOST], numbers_of(worker) + at,
                         count - at < order->batch ? count - at : order->batch,
                         worker->stream.answers + at);
    return yes;
}

#else

bool peers_have_boost(void)
{
    return false;
}

#endif

/* ---- All of them ----------------------------------------------------------------------------- */

static const struct peer peers[PEERS] = {
#ifdef TAMIS_BENCH_LIBBLOOM
    [LIBBLOOM] = {"libbloom", open_libbloom, close_libbloom, add_libbloom, ask_libbloom, false},
#endif
#ifdef TAMIS_BENCH_BOOST
    [BOOST] = {"boost", open_boost, close_boost, add_boost, ask_boost, true},
#endif
};

static void name_of(char name[96], const struct bench_case *c, const struct peer *peer,
                    enum operation operation)
{
    (void)snprintf(name, 96, "%s/%s/%s/p1", c->prefix, peer->name, operation_names[operation]);
}

static bool suits(const struct bench_case *c, int peer)
{
    if (!c->peers || peers[peer].name == NULL) return false;
    return peer == LIBBLOOM ? !c->life && c->capacity <= INT_MAX
                            : c->key_set == KEYS_8_BYTES && c->capacity <= BOOST_KEYS_MAX;
}

static bool want(const struct bench_case *c, const struct options *options, int peer)
{
    char name[96];
    if (!suits(c, peer)) return false;
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        name_of(name, c, &peers[peer], operations[i]);
        if (options_want(options, name)) return true;
    }
    return false;
}

bool peers_want(const struct bench_case *c, const struct options *options)
{
    for (int peer = 0; peer < PEERS; peer++)
        if (want(c, options, peer)) return true;
    return false;
}

/* How many keys of the case it has got. */
static uint64_t added[PEERS];
static bool present[PEERS];

static bool is_whole(const struct options *options, int peer)
{
    return !options->quick || peers[peer].quickly_filled;
}

static struct order order_for(const struct bench_case *c, const struct options *options)
{
    struct order order = call_order(CALL_SINGLE, OP_ADD);
    order.key_set = c->key_set;
    order.seed = options->seed;
    order.batch = options->batch;
    return order;
}

static void sample(const struct bench_case *c, int peer, struct order *order,
                   enum operation operation, unsigned level)
{
    char name[96];
    name_of(name, c, &peers[peer], operation);
    struct figure *figure = figure_get(name);
    order->run = operation == OP_ADD ? peers[peer].add : peers[peer].ask;
    const struct outcome outcome = crew_run(order);
    figure_add(figure, level, outcome.ns);
    figure->keys += outcome.keys;
    figure->yes += outcome.yes;
    if (operation == OP_HIT && outcome.yes != outcome.keys)
        errx(1, "%s: a key that was added is absent", name);
}

static void fill(const struct bench_case *c, const struct options *options, int peer)
{
    struct order order = order_for(c, options);
    const bool whole = is_whole(options, peer);
    const unsigned turns = c->levels * c->repeats;
    const uint64_t part = whole ? c->keys / turns : c->sample_keys / 8;
    (void)crew_each(&(struct order){.run = peers[peer].open, .range = c->capacity},
                    team_processes[TEAM_P1]);
    present[peer] = true;
    added[peer] = 0;
    order.keys = c->capacity / 100; /* touches every page */
    order.first = UINT64_C(1) << 50;
    order.run = peers[peer].add;
    (void)crew_run(&order);
    order.keys = part;
    for (unsigned turn = 0; turn < turns; turn++, added[peer] += part) {
        order.first = added[peer];
        sample(c, peer, &order, OP_ADD, turn / c->repeats);
    }
}

void peers_begin(const struct bench_case *c, const struct options *options)
{
    for (int peer = 0; peer < PEERS; peer++)
        if (want(c, options, peer)) fill(c, options, peer);
}

void peers_ask(const struct bench_case *c, const struct options *options, unsigned repeat)
{
    for (int peer = 0; peer < PEERS; peer++) {
        struct order order = order_for(c, options);
        if (!present[peer]) continue;
        order.keys = c->sample_keys;
        order.range = added[peer];
        sample(c, peer, &order, OP_HIT, 0);
        order.range = 0;
        order.first = (UINT64_C(1) << 49) + repeat * order.keys;
        if (is_whole(options, peer)) sample(c, peer, &order, OP_MISS, 0);
    }
}

void peers_end(void)
{
    for (int peer = 0; peer < PEERS; peer++) {
        if (!present[peer]) continue;
        (void)crew_each(&(struct order){.run = peers[peer].close}, team_processes[TEAM_P1]);
        present[peer] = false;
    }
}
