/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_exceptions.c: what exceptions cost a positive answer.
 *
 *     bench_exceptions [DIRECTORY]      a store is made there (default: $TMPDIR or /tmp) and
 *                                       removed
 *
 * A blocked filter of 10,000,000 keys at 0.1 %, all of which answer yes, is asked for its keys in
 * random order.  With 1e3, 1e5 and 1e6 exceptions, mapped from a file, nanoseconds a key:
 *
 *     filter       the filter alone
 *     + index      filter, then index: no key is an exception, and what that adds
 *     exception    the index alone, for keys that all are
 *     chained      the index alone, no key is one, each key chosen by the answer before it: latency
 *     batch        filter and index by batches of 1,000, and what the index adds
 *
 * each the least of 21 runs over 500,000 keys, in time of the processor, since others may use the
 * cores too; beside them the latency of a random line of 1 GiB.
 */
#include <inttypes.h>
#include <stdio.h>

#include "bench.h"
#include "exceptions/index.h"
#include "txn/exceptions.h"

#define KEYS 10000000u
#define ASKED 500000u
#define BATCH 1000u
#define RUNS 21
#define KEY_BYTES 16u

static uint8_t (*text)[KEY_BYTES];        /* ASKED keys of the filter, none an exception */
static uint8_t (*exceptional)[KEY_BYTES]; /* ASKED exceptions, some of them often */
static uint64_t sink;

static double now_ns(void)
{
    return 1e9 * bench_clock(CLOCK_PROCESS_CPUTIME_ID);
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 31)) * 0x9E3779B97F4A7C15u;
    return (x ^ (x >> 29)) * 0xBF58476D1CE4E5B9u;
}

static void make_key(uint64_t number, uint8_t key[KEY_BYTES])
{
    const uint64_t words[2] = {mix(number), number};
    memcpy(key, words, sizeof words);
}

static struct tamis__mapped_segment make_index(tamis_store *store, uint64_t number, uint64_t count)
{
    struct tamis__exceptions set = {0};
    struct tamis__mapped_segment index;
    struct tamis__draft draft;
    uint8_t key[KEY_BYTES];
    for (uint64_t i = 0; i < count; i++) {
        make_key(UINT64_C(1) << 40 | i, key);
        bench_done(tamis__exceptions_add(&set, key, sizeof key, 0));
    }
    double start = now_ns();
    bench_done(tamis__exceptions_sort(&set));
    const double sorted = now_ns();
    bench_done(tamis__exceptions_stage(store, &set, "bench", &draft));
    draft.header.number = number;
    draft.header.filter_id = 1;
    bench_done(tamis__segment_publish(&store->place, &draft.staged, &draft.header));
    const double published = now_ns();
    bench_done(tamis__open_index(store, number, 1, &index));
    printf("%8" PRIu64 " exceptions: index %.1f MiB; sorted %.0f ms, staged and published %.0f ms, "
           "opened %.0f us\n",
           count, (double)index.segment.header->data_bytes / 1048576, (sorted - start) / 1e6,
           (published - sorted) / 1e6, (now_ns() - published) / 1e3);
    tamis__exceptions_clear(&set);
    return index;
}

typedef void body(tamis_filter *filter, const struct tamis__segment *index);

static void filter_alone(tamis_filter *filter, const struct tamis__segment *index)
{
    (void)index;
    for (size_t i = 0; i < ASKED; i++)
        sink += (uint64_t)tamis_filter_contains(filter, text[i], KEY_BYTES);
}

static void filter_then_index(tamis_filter *filter, const struct tamis__segment *index)
{
    for (size_t i = 0; i < ASKED; i++)
        sink += tamis_filter_contains(filter, text[i], KEY_BYTES) == 1 &&
                !tamis__index_has(index, text[i], KEY_BYTES);
}

static void index_of_exceptions(tamis_filter *filter, const struct tamis__segment *index)
{
    (void)filter;
    for (size_t i = 0; i < ASKED; i++)
        sink += tamis__index_has(index, exceptional[i], KEY_BYTES);
}

static void index_chained(tamis_filter *filter, const struct tamis__segment *index)
{
    uint64_t next = 0;
    (void)filter;
    for (size_t i = 0; i < ASKED; i++)
        next = i + tamis__index_has(index, text[next], KEY_BYTES);
    sink += next;
}

static void in_batches(tamis_filter *filter, const struct tamis__segment *index)
{
    struct tamis_key keys[BATCH];
    uint8_t answers[BATCH];
    for (size_t first = 0; first < ASKED; first += BATCH) {
        for (size_t i = 0; i < BATCH; i++)
            keys[i] = (struct tamis_key){text[first + i], KEY_BYTES};
        sink += (uint64_t)bench_done(tamis_filter_contains_batch(filter, keys, BATCH, answers));
        if (index != NULL) sink -= tamis__index_strike(index, keys, BATCH, answers);
    }
}

static double measure(body *run, tamis_filter *filter, const struct tamis__segment *index)
{
    double best = 1e300;
    for (int i = 0; i < RUNS; i++) {
        const double start = now_ns();
        run(filter, index);
        const double took = (now_ns() - start) / ASKED;
        if (took < best) best = took;
    }
    return best;
}

static double random_line_ns(void)
{
    const size_t lines = (size_t)1 << 24;
    uint64_t *memory = calloc(lines, 64);
    uint64_t at = 1;
    if (memory == NULL) err(1, "calloc");
    for (size_t i = 0; i < lines; i++)
        memory[i * 8] = mix(i);
    const double start = now_ns();
    for (size_t i = 0; i < ASKED; i++)
        at = memory[(mix(at + i) % lines) * 8];
    const double took = (now_ns() - start) / ASKED;
    sink += at;
    free(memory);
    return took;
}

static tamis_filter *make_filter(tamis_store *store)
{
    tamis_filter *filter;
    uint8_t key[KEY_BYTES];
    bench_done(
        tamis_filter_create(store, "bench", SPEC(.capacity = KEYS, .fp_rate = 0.001), &filter));
    for (uint64_t i = 0; i < KEYS; i++) {
        make_key(i, key);
        bench_done(tamis_filter_add(filter, key, sizeof key));
    }
    return filter;
}

static void bench(tamis_store *store, tamis_filter *filter, uint64_t number, uint64_t count)
{
    struct tamis__mapped_segment index = make_index(store, number, count);
    for (uint64_t i = 0; i < ASKED; i++)
        make_key(UINT64_C(1) << 40 | mix(i) % count, exceptional[i]);
    const double alone = measure(filter_alone, filter, NULL);
    const double both = measure(filter_then_index, filter, &index.segment);
    const double batch = measure(in_batches, filter, NULL);
    const double batch_both = measure(in_batches, filter, &index.segment);
    printf("  filter %.1f   + index %.1f (adds %.1f)   exception %.1f   chained %.1f   "
           "batch %.1f, %.1f (adds %.1f)\n",
           alone, both, both - alone, measure(index_of_exceptions, NULL, &index.segment),
           measure(index_chained, NULL, &index.segment), batch, batch_both, batch_both - batch);
    tamis__close_segment(&index);
}

int main(int argc, char **argv)
{
    tamis_store *store;
    text = malloc((size_t)ASKED * KEY_BYTES);
    exceptional = malloc((size_t)ASKED * KEY_BYTES);
    if (text == NULL || exceptional == NULL) err(1, "malloc");
    for (uint64_t i = 0; i < ASKED; i++)
        make_key(mix(i) % KEYS, text[i]);
    bench_done(
        tamis_store_open(bench_directory(argc > 1 ? argv[1] : NULL), TAMIS_OPEN_CREATE, &store));
    tamis_filter *filter = make_filter(store);
    printf("a random line of 1 GiB: %.1f ns; nanoseconds a key:\n", random_line_ns());
    bench(store, filter, 1001, 1000);
    bench(store, filter, 1002, 100000);
    bench(store, filter, 1003, 1000000);
    bench_done(tamis_filter_close(filter));
    tamis_store_close(store);
    return sink != 0 ? 0 : 1;
}
