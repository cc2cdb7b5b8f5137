/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_sip.c: what hash set sip costs beside xxh3: ns a key, in batches through the public calls,
 * kind blocked, for keys of 8 bytes and URLs of 70, in a filter that the cache holds and in one of
 * 240 MB. Time on the processor, the best of several rounds; docs/security.md has the figures.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

#define KEYS 200000u
#define BATCH 1000u
#define ROUNDS 9u

static char bytes[KEYS][72];
static struct tamis_key keys[KEYS];

/* Keys first .. first + KEYS - 1 of that length, the number spread over 8 bytes or written into a
 * URL. */
static void make_keys(uint64_t first, size_t key_bytes)
{
    for (uint64_t i = 0; i < KEYS; i++) {
        const uint64_t number = (first + i) * 0x9E3779B97F4A7C15u;
        if (key_bytes == 8)
            memcpy(bytes[i], &number, 8);
        else
            (void)snprintf(bytes[i], sizeof bytes[i],
                           "https://www.example.com/articles/2026/a-title-of-words/%015llu",
                           (unsigned long long)(number >> 15));
        keys[i] = (struct tamis_key){bytes[i], key_bytes};
    }
}

static double run(tamis_filter *filter, int adding)
{
    uint8_t answers[BATCH];
    const double start = bench_clock(CLOCK_THREAD_CPUTIME_ID);
    for (uint64_t i = 0; i < KEYS; i += BATCH)
        bench_done(adding ? tamis_filter_add_batch(filter, keys + i, BATCH, answers)
                          : tamis_filter_contains_batch(filter, keys + i, BATCH, answers));
    return (bench_clock(CLOCK_THREAD_CPUTIME_ID) - start) * 1e9 / KEYS;
}

static void measure(tamis_store *store, const char *set, uint64_t capacity, size_t key_bytes)
{
    double best[2] = {1e9, 1e9};
    tamis_filter *filter;
    const struct tamis_filter_spec spec = {
        .size = sizeof spec, .capacity = capacity, .hash_set = set, .on_full = TAMIS_ON_FULL_WARN};
    if (tamis_filter_create(store, "f", &spec, &filter) < 0) {
        (void)printf("%-5s %s\n", set, tamis_last_error());
        return;
    }
    for (uint64_t round = 0; round < ROUNDS; round++) {
        make_keys(round * KEYS, key_bytes);
        if (round == 0) /* has the pages mapped */
            for (uint64_t i = 0; i < capacity / KEYS / 40; i++) {
                make_keys((1000 + i) * KEYS, key_bytes);
                (void)run(filter, 1);
            }
        for (int adding = 1; adding >= 0; adding--) {
            const double ns = run(filter, adding);
            if (ns < best[adding]) best[adding] = ns;
        }
    }
    (void)printf("%-5s capacity %9llu  keys of %2zu bytes  add %6.1f ns  ask %6.1f ns\n", set,
                 (unsigned long long)capacity, key_bytes, best[1], best[0]);
    bench_done(tamis_filter_close(filter));
    bench_done(tamis_filter_drop(store, "f"));
}

int main(int argc, char **argv)
{
    tamis_store *store;
    char directory[64];
    static const char *const sets[] = {"xxh3", "sip"};
    static const uint64_t capacities[] = {1000000, 200000000};
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 2) errx(2, "use: bench_sip [DIRECTORY]");
    (void)snprintf(directory, sizeof directory, "%.40s/bench-sip-%ld", argc > 1 ? argv[1] : "/tmp",
                   (long)getpid());
    bench_done(tamis_store_open(directory, TAMIS_OPEN_CREATE, &store));
    for (size_t c = 0; c < 2; c++)
        for (size_t b = 8; b <= 70; b += 62)
            for (size_t s = 0; s < 2; s++)
                measure(store, sets[s], capacities[c], b);
    tamis_store_close(store);
    (void)printf("%s is left: remove it\n", directory);
    return 0;
}
