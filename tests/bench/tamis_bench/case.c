/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * case.c: the order of what is done to one filter.
 *
 *     filling   up to its capacity, in levels; at each level every way of adding (batch or single,
 *               by one process, two, or two threads) takes its turn, `repeats` times, so that all
 *               meet the filter as full; in between batches that are not timed take it to the next
 *               level
 *     syncing   of filters by size (--max-keys)
 *     asking    samples of every way of asking, one after the other, and again, so that what
 *               changes on the machine meanwhile meets all alike; the limits take part in the turn
 *     removing  counting only: the keys that were added last, each once
 *
 * Before anything is timed each process adds a hundredth of the keys, which touches every page:
 * faults are the price of a mapping, not of a key.
 */
#include "case.h"

#include <err.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "life.h"
#include "limits.h"
#include "peers.h"
#include "tamis.h"

#define STRANGERS ((uint64_t)1 << 48) /* numbers of keys that are never added */
#define WAYS_MAX 128u
/*
 * Before each sample its workers ask so many keys together, not timed, of what it will touch: the
 * page tables, and the lines, of what was touched before stand in the caches then, and 131,072
 * random lines bring back page tables of 512 MB.
 */
#define WARM_KEYS 131072u

/* A call, an operation, by a team. */
struct way {
    enum call call;
    enum operation operation;
    enum team team;
    struct figure *figure;
};

struct run {
    struct bench_case *c;
    const struct options *options;
    const char *store_path;
    tamis_store *store;
    tamis_filter *filter; /* the parent's, that adds nothing */
    struct way ways[WAYS_MAX];
    unsigned way_count;
    unsigned processes; /* a bit each */
    uint64_t added, removed, strangers;
};

/* ---- What is to be measured ------------------------------------------------------------------ */

static bool has_operation(const struct bench_case *c, enum operation operation)
{
    if (operation == OP_REMOVE) return c->kind == TAMIS_KIND_COUNTING;
    if (c->kind == TAMIS_KIND_FUSE) return operation == OP_HIT || operation == OP_MISS;
    return true;
}

static void want_way(struct run *run, enum call call, enum operation operation, enum team team)
{
    char name[96];
    (void)snprintf(name, sizeof name, "%s/%s/%s/%s", run->c->prefix, call_names[call],
                   operation_names[operation], team_names[team]);
    if (call == CALL_SINGLE && (team == TEAM_C1 || (team != TEAM_P1 && run->c->alone))) return;
    if (!options_want(run->options, name) || run->way_count == WAYS_MAX) return;
    run->ways[run->way_count++] = (struct way){call, operation, team, figure_get(name)};
}

/* By operation, call and team, as the table has them. */
static void want_ways(struct run *run)
{
    const struct bench_case *c = run->c;
    for (int team = 0; team < TEAMS; team++)
        if (c->teams[team]) run->processes |= team_processes[team];
    for (int call = 0; call < CALLS; call++)
        for (int operation = 0; operation < OPERATIONS; operation++)
            for (int team = 0; team < TEAMS; team++)
                if (c->calls[call] && c->teams[team] && has_operation(c, (enum operation)operation))
                    want_way(run, (enum call)call, (enum operation)operation, (enum team)team);
}

static void add_parts(double parts[], double line, double one, double two, double hash)
{
    parts[LIMIT_LINE] = line;
    parts[LIMIT_OR] = one;
    parts[LIMIT_ORS] = two;
    parts[LIMIT_HASH] = hash;
}

void case_limit(const struct bench_case *c, enum operation operation, double parts[])
{
    const bool ask = operation != OP_ADD && operation != OP_REMOVE;
    const double hash = c->key_set == KEYS_URLS || (c->cached && ask) ? 1 : 0;
    switch (c->kind) {
    case TAMIS_KIND_BLOCKED:
        /* A line is read; two words of it are ORed. */
        if (ask)
            add_parts(parts, c->cached ? 0 : 1, 0, 0, hash);
        else
            add_parts(parts, 0, 0, 1, hash);
        break;
    case TAMIS_KIND_BLOOM:
        add_parts(parts, ask ? c->k : 0, ask ? 0 : c->k, 0, hash);
        break;
    case TAMIS_KIND_COUNTING:
        /* Two words of 64 counters, in two lines; k of these are raised, by adding again too. */
        if (operation == OP_HIT || operation == OP_MISS)
            add_parts(parts, 2, 0, 0, hash);
        else
            add_parts(parts, 0, 0, c->k / 2.0, c->key_set == KEYS_URLS ? 1 : 0);
        break;
    default:
        add_parts(parts, 3, 0, 0, hash);
        break;
    }
}

/* ---- The filter ------------------------------------------------------------------------------ */

static int progress(void *context, uint32_t phase, uint64_t done, uint64_t all)
{
    (void)context;
    (void)phase;
    (void)done;
    (void)all;
    return crew_stopped != 0 ? TAMIS_EINVAL : 0;
}

static double now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Returns the ns that the calls took, which is all but the making of the keys. */
static double build_filter(const struct run *run)
{
    static struct stream stream;
    const struct bench_case *c = run->c;
    const struct tamis_build_spec spec = {
        .size = sizeof spec,
        .filter = &(struct tamis_filter_spec){.size = sizeof(struct tamis_filter_spec),
                                              .kind = c->kind,
                                              .fp_rate = c->fp_rate},
        .progress = progress};
    tamis_build *build;
    double ns = 0;
    check(tamis_build_begin(run->store, "bench", &spec, &build));
    for (uint64_t at = 0; at < c->keys;) {
        const size_t count = c->keys - at < STREAM_KEYS ? (size_t)(c->keys - at) : STREAM_KEYS;
        keys_in_order(&stream, c->key_set, run->options->seed, at, count);
        const double start = now_ns();
        const int rc = tamis_build_add(build, stream.keys, count);
        ns += now_ns() - start;
        crew_check_stop();
        check(rc);
        at += count;
    }
    const double start = now_ns();
    const int rc = tamis_build_publish(build, NULL);
    ns += now_ns() - start;
    crew_check_stop();
    check(rc);
    tamis_build_close(build);
    return ns;
}

static void make_filter(struct run *run)
{
    struct bench_case *c = run->c;
    struct tamis_segment_stat segment = {.size = sizeof segment};
    char name[96];
    check(tamis_store_open(run->store_path, TAMIS_OPEN_CREATE, &run->store));
    if (c->kind == TAMIS_KIND_FUSE) {
        const double ns = build_filter(run) / (double)c->keys;
        (void)snprintf(name, sizeof name, "%s/batch/build/all", c->prefix);
        figure_add(figure_get(name), 0, ns);
        run->added = c->keys;
        check(tamis_filter_open(run->store, "bench", TAMIS_OPEN_READ_ONLY, &run->filter));
    } else {
        const struct tamis_filter_spec spec = {
            .size = sizeof spec,
            .capacity = c->capacity,
            .fp_rate = c->fp_rate,
            .kind = c->kind,
            .pages = c->pages,
            .on_full = c->keys > c->capacity || c->grows ? TAMIS_ON_FULL_GROW : TAMIS_ON_FULL_WARN};
        check(tamis_filter_create(run->store, "bench", &spec, &run->filter));
    }
    check(tamis_filter_segment(run->filter, 0, &segment));
    c->k = segment.k;
    c->data_bytes = segment.data_bytes;
    if (c->keys > c->capacity) {
        struct tamis_sizing all = {
            .size = sizeof all, .kind = c->kind, .capacity = c->keys, .fp_rate = c->fp_rate};
        check(tamis_size(&all));
        c->data_bytes = all.data_bytes;
    }
    filter_open(run->store_path, run->processes);
}

static void drop_filter(struct run *run)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    check(tamis_filter_stat(run->filter, &stat));
    run->c->segments = stat.segment_count;
    run->c->all_bytes = 0;
    for (uint32_t i = 0; i < stat.segment_count; i++) {
        struct tamis_segment_stat segment = {.size = sizeof segment};
        check(tamis_filter_segment(run->filter, i, &segment));
        run->c->all_bytes += segment.data_bytes;
    }
    filter_close(run->processes);
    check(tamis_filter_close(run->filter));
    if (run->c->life) run->c->open_us = life_open(run->c, run->options, run->store_path);
    check(tamis_filter_drop(run->store, "bench"));
    tamis_store_close(run->store);
    run->added = 0;
}

/* ---- Samples --------------------------------------------------------------------------------- */

static struct order order_of(const struct run *run, const struct way *way)
{
    struct order order = call_order(way->call, way->operation);
    order.key_set = run->c->key_set;
    order.seed = run->options->seed;
    order.batch = run->options->batch;
    order.team = way->team;
    return order;
}

static void keep(struct figure *figure, unsigned level, struct outcome outcome)
{
    figure_add(figure, level, outcome.ns);
    figure->keys += outcome.keys;
    figure->yes += outcome.yes;
}

static struct outcome run_warm(const struct order *warm, const struct order *order)
{
    struct order before = *warm;
    before.keys = WARM_KEYS;
    if (before.keys > order->keys) before.keys = order->keys;
    (void)crew_run(&before);
    return crew_run(order);
}

/* An order that uses the filter. */
static struct outcome run_call(const struct run *run, const struct order *order)
{
    struct order warm = call_order(CALL_BATCH, OP_HIT);
    warm.key_set = order->key_set;
    warm.seed = order->seed;
    warm.batch = order->batch;
    warm.team = order->team;
    warm.range = run->added;
    return run_warm(&warm, order);
}

static void sample_limits(const struct run *run, int limits)
{
    const struct bench_case *c = run->c;
    char name[96];
    for (int team = 0; team < TEAMS; team++)
        for (int limit = 0; c->teams[team] && limit < limits; limit++) {
            struct order order = limit_order((enum limit)limit);
            order.key_set = c->key_set;
            order.seed = run->options->seed;
            order.team = (enum team)team;
            order.keys = c->sample_keys;
            (void)snprintf(name, sizeof name, "%s/limit/%s/%s", c->prefix, limit_names[limit],
                           team_names[team]);
            keep(figure_get(name), 0, run_warm(&order, &order));
        }
}

static struct outcome add_keys(struct run *run, const struct way *way, uint64_t keys)
{
    struct order order = order_of(run, way);
    order.first = run->added;
    order.keys = keys;
    const double start = now_ns();
    const struct outcome outcome = run->added > 0 ? run_call(run, &order) : crew_run(&order);
    run->c->fill_s += (now_ns() - start) / 1e9;
    run->added += outcome.keys;
    return outcome;
}

static enum team all_processes(const struct run *run)
{
    return (run->processes & 8) != 0 ? TEAM_P4 : (run->processes & 2) != 0 ? TEAM_P2 : TEAM_P1;
}

/* Batches of all processes, not timed, until so many keys are in. */
static void fill_up(struct run *run, uint64_t keys)
{
    const struct way plain = {.call = CALL_BATCH, .operation = OP_ADD, .team = all_processes(run)};
    while (keys >= run->added + team_sizes[plain.team])
        (void)add_keys(run, &plain, keys - run->added);
}

static void use_own_lines(const struct run *run)
{
    struct tamis_segment_stat segment = {.size = sizeof segment};
    check(tamis_filter_segment(run->filter, 0, &segment));
    limits_use(&segment, run->processes);
}

/* By that way, or by all of them in turn where it is NULL. */
static void fill(struct run *run, const struct way *only)
{
    const struct bench_case *c = run->c;
    uint64_t ways = 0;
    for (unsigned i = 0; i < run->way_count; i++)
        ways += run->ways[i].operation == OP_ADD;
    if (only != NULL) ways = 1;
    fill_up(run, c->keys / 100 * team_sizes[all_processes(run)]);
    if (c->life) use_own_lines(run); /* behind the first look at each page, which brings it */
    if (c->teams[TEAM_C1])
        (void)add_keys(run, &(struct way){CALL_BATCH, OP_ADD, TEAM_C1, NULL}, c->keys / 100);
    uint64_t part = ways > 0 ? (c->keys - run->added) / (ways * c->levels * c->repeats) : 0;
    if (part > c->sample_keys / 3 && !c->ask_all) part = c->sample_keys / 3;
    for (unsigned level = 0; level < c->levels && ways > 0; level++) {
        for (unsigned repeat = 0; repeat < c->repeats; repeat++)
            for (const struct way *way = run->ways; way < run->ways + run->way_count; way++)
                if (way->operation == OP_ADD && (only == NULL || way == only))
                    keep(way->figure, level, add_keys(run, way, part));
        sample_limits(run, LIMITS);
        fill_up(run, c->keys / c->levels * (level + 1));
    }
    fill_up(run, c->keys);
}

/*
 * In cache each way has a filter of its own: lines that another processor wrote last are not in
 * this one's cache.  The last filter stays.
 */
static void fill_filters(struct run *run)
{
    const struct way *before = NULL;
    if (!run->c->cached) {
        fill(run, NULL);
        return;
    }
    for (const struct way *way = run->ways; way < run->ways + run->way_count; way++) {
        if (way->operation != OP_ADD) continue;
        if (before != NULL) {
            drop_filter(run);
            make_filter(run);
        }
        fill(run, way);
        before = way;
    }
    if (before == NULL) fill(run, NULL);
}

static void ask_once(struct run *run, const struct way *way, unsigned repeat)
{
    const struct bench_case *c = run->c;
    struct order order = order_of(run, way);
    order.keys = c->sample_keys;
    if (way->operation == OP_MISS) {
        order.first = STRANGERS + run->strangers;
        run->strangers += order.keys;
    } else if (c->ask_all && way->operation == OP_HIT) {
        order.first = run->added * repeat / c->repeats;
        order.keys = run->added * (repeat + 1) / c->repeats - order.first;
    } else {
        order.range = run->added;
    }
    /* Each raises counters: not so many that they outgrow their bits. */
    if (c->kind == TAMIS_KIND_COUNTING && way->operation == OP_READD && order.keys > c->keys / 50)
        order.keys = c->keys / 50;
    const struct outcome outcome = run_call(run, &order);
    keep(way->figure, 0, outcome);
    if (way->operation == OP_HIT && outcome.yes != outcome.keys)
        errx(1, "%s: a key that was added is absent", way->figure->name);
}

/* A static filter comes from elsewhere: this touches its pages. */
static void warm(struct run *run)
{
    const struct way plain = {.call = CALL_BATCH, .operation = OP_HIT, .team = all_processes(run)};
    struct order order = order_of(run, &plain);
    order.range = run->added;
    order.keys = run->c->sample_keys * team_sizes[plain.team];
    (void)crew_run(&order);
}

static void ask(struct run *run)
{
    if (run->c->kind == TAMIS_KIND_FUSE) warm(run);
    for (unsigned repeat = 0; repeat < run->c->repeats; repeat++) {
        /* Right after a sync an OR has a fault at each page. */
        sample_limits(run, run->c->life ? LIMIT_LINE + 1 : LIMITS);
        for (unsigned i = 0; i < run->way_count; i++)
            if (run->ways[i].operation != OP_ADD && run->ways[i].operation != OP_REMOVE)
                ask_once(run, &run->ways[i], repeat);
        peers_ask(run->c, run->options, repeat);
    }
}

static void take_off(struct run *run)
{
    const struct bench_case *c = run->c;
    const uint64_t part = c->sample_keys < c->keys / 1000 * 5 ? c->sample_keys : c->keys / 1000 * 5;
    for (unsigned repeat = 0; repeat < c->repeats; repeat++)
        for (unsigned i = 0; i < run->way_count; i++) {
            if (run->ways[i].operation != OP_REMOVE) continue;
            struct order order = order_of(run, &run->ways[i]);
            run->removed += part;
            order.first = run->added - run->removed;
            order.keys = part;
            keep(run->ways[i].figure, 0, run_call(run, &order));
        }
}

/* ---- The limits of each, when all is measured ------------------------------------------------ */

static void set_limit(const struct bench_case *c, const struct way *way)
{
    double parts[LIMITS];
    struct figure *figure = way->figure;
    size_t used = 0;
    figure->limit_ns = 0;
    case_limit(c, way->operation, parts);
    for (int limit = 0; limit < LIMITS; limit++) {
        if (parts[limit] == 0) continue;
        figure->limit_ns += parts[limit] * figure_ns("%s/limit/%s/%s", c->prefix,
                                                     limit_names[limit], team_names[way->team]);
        if (parts[limit] == 1)
            used += (size_t)snprintf(figure->limit + used, sizeof figure->limit - used, "%s%s",
                                     used > 0 ? " + " : "", limit_names[limit]);
        else
            used += (size_t)snprintf(figure->limit + used, sizeof figure->limit - used, "%s%g %s",
                                     used > 0 ? " + " : "", parts[limit], limit_names[limit]);
    }
}

bool case_run(struct bench_case *c, const struct options *options, const char *store)
{
    struct run run = {.c = c, .options = options, .store_path = store};
    char build[96];
    want_ways(&run);
    (void)snprintf(build, sizeof build, "%s/batch/build/all", c->prefix);
    const bool builds = c->kind == TAMIS_KIND_FUSE && options_want(options, build);
    const bool peers = peers_want(c, options);
    if (run.way_count == 0 && !builds && !peers) return false;
    make_filter(&run);
    if (!c->life) limits_open(store, c->data_bytes, c->pages == TAMIS_PAGES_HUGE, run.processes);
    if (c->kind != TAMIS_KIND_FUSE) fill_filters(&run);
    if (c->life) c->sync_s = life_sync();
    peers_begin(c, options);
    ask(&run);
    take_off(&run);
    peers_end();
    if (c->life) life_look(c);
    if (c->life)
        limits_leave(run.processes);
    else
        limits_close(run.processes);
    drop_filter(&run);
    for (unsigned i = 0; i < run.way_count; i++)
        set_limit(c, &run.ways[i]);
    return true;
}
