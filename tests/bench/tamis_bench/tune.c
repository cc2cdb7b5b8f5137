/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tune.c: see tune.h.
 *
 * A setting is a variant of the loops, a depth, and the cache that lines are fetched into (`far`:
 * the second).  A worker is told which one to use, then makes a
 * sample of each call; the settings take turns, so that what changes on the machine meanwhile meets
 * all alike.
 */
#include "tune.h"

#include <err.h>

#include "base/cpu.h"
#include "calls.h"
#include "crew.h"
#include "limits.h"

#define SETTINGS_MAX (2 * TAMIS__CPU_COUNT * TAMIS__DEPTH_MAX / TAMIS__DEPTH_STEP)

/* The calls, and the columns. */
static const enum operation operations[] = {OP_HIT, OP_READD};
#define COLUMNS (sizeof operations / sizeof operations[0])

struct setting {
    enum tamis__cpu cpu;
    unsigned depth;
    enum tamis__fetch fetch;
    double least_ns[COLUMNS];
};

static int64_t force(struct worker *worker, const struct order *order, size_t count)
{
    (void)worker;
    (void)count;
    tamis__cpu_force((enum tamis__cpu)order->first);
    tamis__cpu_force_depth((unsigned)order->range);
    tamis__cpu_force_fetch((enum tamis__fetch)order->bytes);
    return 0;
}

static void use(const struct setting *setting)
{
    (void)crew_each(
        &(struct order){
            .run = force, .first = setting->cpu, .range = setting->depth, .bytes = setting->fetch},
        1);
}

static void keep_least(double *least, double ns)
{
    if (*least == 0 || ns < *least) *least = ns;
}

static struct order order_of(const struct options *options, enum operation operation)
{
    struct order order = call_order(CALL_BATCH, operation);
    order.key_set = KEYS_8_BYTES;
    order.seed = options->seed;
    order.batch = options->batch;
    order.team = TEAM_P1;
    return order;
}

static tamis_filter *make_filter(const struct options *options, const char *path,
                                 tamis_store **store, uint64_t *data_bytes)
{
    tamis_filter *filter;
    struct tamis_segment_stat segment = {.size = sizeof segment};
    const struct tamis_filter_spec spec = {.size = sizeof spec,
                                           .kind = TAMIS_KIND_BLOCKED,
                                           .capacity = options->out_keys,
                                           .fp_rate = 0.01,
                                           .on_full = TAMIS_ON_FULL_WARN,
                                           .pages = options->pages};
    check(tamis_store_open(path, TAMIS_OPEN_CREATE, store));
    check(tamis_filter_create(*store, "bench", &spec, &filter));
    check(tamis_filter_segment(filter, 0, &segment));
    *data_bytes = segment.data_bytes;
    filter_open(path, 1);
    struct order order = order_of(options, OP_ADD);
    order.keys = options->out_keys;
    (void)crew_run(&order);
    return filter;
}

static unsigned list_settings(struct setting settings[SETTINGS_MAX])
{
    unsigned count = 0;
    for (enum tamis__cpu cpu = TAMIS__CPU_PORTABLE; cpu < TAMIS__CPU_COUNT; cpu++)
        for (unsigned depth = TAMIS__DEPTH_STEP; depth <= TAMIS__DEPTH_MAX;
             depth += TAMIS__DEPTH_STEP)
            for (unsigned f = TAMIS__FETCH_NEAR; f <= TAMIS__FETCH_FAR && tamis__cpu_has(cpu); f++)
                settings[count++] = (struct setting){cpu, depth, (enum tamis__fetch)f, {0}};
    return count;
}

static void measure(const struct options *options, struct setting *settings, unsigned count,
                    double *line_ns)
{
    for (unsigned repeat = 0; repeat < options->repeats; repeat++) {
        struct order line = limit_order(LIMIT_LINE);
        line.team = TEAM_P1;
        line.keys = options->sample_keys;
        keep_least(line_ns, crew_run(&line).ns);
        for (unsigned i = 0; i < count; i++) {
            use(&settings[i]);
            for (size_t column = 0; column < COLUMNS; column++) {
                struct order order = order_of(options, operations[column]);
                order.keys = options->sample_keys;
                order.range = options->out_keys;
                keep_least(&settings[i].least_ns[column], crew_run(&order).ns);
            }
        }
    }
}

static void print(FILE *out, const struct setting *settings, unsigned count, double line_ns)
{
    (void)fprintf(out,
                  "\nBlocked, 8-byte keys, batches: least ns a key, and the ratio to reading a "
                  "random line, %.2f ns.\n\n"
                  "| setting         |  hit | ratio | re-add | ratio |\n"
                  "|---|---|---|---|---|\n",
                  line_ns);
    for (unsigned i = 0; i < count; i++) {
        char name[32];
        tamis__cpu_force(settings[i].cpu);
        (void)snprintf(name, sizeof name, "%s:%u%s", tamis_simd(), settings[i].depth,
                       settings[i].fetch == TAMIS__FETCH_FAR ? ":far" : "");
        (void)fprintf(out, "| %-15s | %4.2f |  %4.2f |   %4.2f |  %4.2f |\n", name,
                      settings[i].least_ns[0], settings[i].least_ns[0] / line_ns,
                      settings[i].least_ns[1], settings[i].least_ns[1] / line_ns);
    }
}

static void print_depth(unsigned depth, FILE *out)
{
    if (depth != 0)
        (void)fprintf(out, "%u ahead", depth);
    else
        (void)fprintf(out, "the usual ahead");
}

void tune_print_chosen(uint64_t data_bytes, FILE *out)
{
    static const char *const kinds[TAMIS__LOOP_COUNT] = {"blocked", "counting", "fuse", "bloom"};
    const char *before = "batches out of cache: ";
    const bool far = tamis__cpu_pace(TAMIS__LOOP_BLOCKED, 0, data_bytes, false).far;
    for (enum tamis__loop loop = 0; loop < TAMIS__LOOP_COUNT; loop++, before = ", ") {
        const unsigned depth = tamis__cpu_pace(loop, 0, data_bytes, false).depth;
        const unsigned huge = tamis__cpu_pace(loop, 0, data_bytes, true).depth;
        (void)fprintf(out, "%s%s ", before, kinds[loop]);
        print_depth(depth, out);
        if (huge != depth) (void)fprintf(out, " (in huge pages %u)", huge);
    }
    (void)fprintf(out, "; lines are fetched into the %s cache\n", far ? "second" : "first");
}

void tune_run(const struct options *options, const char *path, FILE *out)
{
    struct setting settings[SETTINGS_MAX];
    tamis_store *store;
    uint64_t data_bytes;
    double line_ns = 0;
    const unsigned count = list_settings(settings);
    tamis_filter *filter = make_filter(options, path, &store, &data_bytes);
    limits_open(path, data_bytes, options->pages == TAMIS_PAGES_HUGE, 1);
    measure(options, settings, count, &line_ns);
    limits_close(1);
    filter_close(1);
    check(tamis_filter_close(filter));
    tamis_store_close(store);
    print(out, settings, count, line_ns);
}
