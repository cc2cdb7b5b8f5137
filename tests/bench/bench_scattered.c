/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_scattered.c: what it costs to ask for keys whose bytes lie anywhere in memory, as those of
 * objects of a language do, beside keys that lie in a row in one buffer.  Batches of 1,024 keys in
 * filters for 10 million at 1 %, asked by the public call; ns a key, the least of 2,000 batches.
 *
 * The limit is what must be read in any case: the lines of a scattered key, prefetched 32 keys
 * before, and nothing done with them; and the same keys asked for from a buffer.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "random.h"

#define MEMORY ((size_t)1 << 30)
#define BATCH 1024u
#define AHEAD 32u
#define ROUNDS 2000u
#define LONGEST 256u

static struct tamis_key keys[BATCH];
static uint64_t sink;

static void choose_keys(const char *memory, size_t key_bytes, int scattered, uint64_t *random)
{
    const size_t first = (size_t)random_below(random, 8) * BATCH * LONGEST;
    for (size_t i = 0; i < BATCH; i++) {
        const size_t at =
            scattered ? (size_t)random_below(random, MEMORY - LONGEST) : first + i * key_bytes;
        keys[i] = (struct tamis_key){memory + at, key_bytes};
    }
}

static void fetch_lines(const struct tamis_key *key)
{
    const char *bytes = key->data;
    for (size_t at = 0; at < key->bytes; at += 64)
        __builtin_prefetch(bytes + at, 0, 3);
    __builtin_prefetch(bytes + key->bytes - 1, 0, 3);
}

/* Reads a byte of each line. */
static void read_keys(void)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < BATCH; i++) {
        const volatile unsigned char *bytes = keys[i].data;
        if (i + AHEAD < BATCH) fetch_lines(&keys[i + AHEAD]);
        for (size_t at = 0; at < keys[i].bytes; at += 64)
            sum += bytes[at];
        sum += bytes[keys[i].bytes - 1];
    }
    sink += sum;
}

/* filter: NULL to read the keys only. */
static double least_ns(tamis_filter *filter, const char *memory, size_t key_bytes, int scattered,
                       uint64_t *random)
{
    static uint8_t answers[BATCH];
    double least = 1e9;
    for (unsigned round = 0; round < ROUNDS; round++) {
        choose_keys(memory, key_bytes, scattered, random);
        const double start = bench_now();
        if (filter == NULL)
            read_keys();
        else
            (void)bench_done(tamis_filter_contains_batch(filter, keys, BATCH, answers));
        const double ns = (bench_now() - start) * 1e9 / BATCH;
        if (ns < least) least = ns;
    }
    return least;
}

static void measure(tamis_store *store, uint32_t kind, const char *memory, uint64_t *random)
{
    static const size_t sizes[] = {8, 20, 70, 200};
    const struct tamis_filter_spec spec = {
        .size = sizeof spec, .capacity = 10000000, .fp_rate = 0.01, .kind = kind};
    tamis_filter *filter;
    bench_done(tamis_filter_create(store, "f", &spec, &filter));
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const double row = least_ns(filter, memory, sizes[i], 0, random);
        const double scattered = least_ns(filter, memory, sizes[i], 1, random);
        const double lines = least_ns(NULL, memory, sizes[i], 1, random);
        (void)printf("%-9s keys of %3zu bytes  in a row %6.1f  scattered %6.1f  their lines %5.1f  "
                     "ratio %.2f\n",
                     tamis_kind_name(kind), sizes[i], row, scattered, lines,
                     scattered / (row + lines));
    }
    bench_done(tamis_filter_close(filter));
    bench_done(tamis_filter_drop(store, "f"));
}

int main(int argc, char **argv)
{
    static const uint32_t kinds[] = {TAMIS_KIND_BLOCKED, TAMIS_KIND_BLOOM, TAMIS_KIND_COUNTING};
    uint64_t random = 1;
    tamis_store *store;
    if (argc > 2) errx(2, "use: bench_scattered [DIRECTORY]");
    uint64_t *memory = malloc(MEMORY);
    if (memory == NULL) err(1, "malloc");
    for (size_t i = 0; i < MEMORY / sizeof *memory; i++)
        memory[i] = random_next(&random);
    bench_done(
        tamis_store_open(bench_directory(argc > 1 ? argv[1] : NULL), TAMIS_OPEN_CREATE, &store));
    (void)printf("with %s\n", tamis_simd());
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        measure(store, kinds[i], (const char *)memory, &random);
    tamis_store_close(store);
    free(memory);
    return sink == 1; /* it is read */
}
