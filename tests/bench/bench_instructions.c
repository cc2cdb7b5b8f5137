/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_instructions.c: does one thing to so many keys, for instructions.sh, which counts the
 * instructions.
 *
 *     bench_instructions STORE KIND OPERATION KEYS     KIND: blocked, bloom, counting
 *                                                      OPERATION: add, hit or single-hit
 */
#include <stdint.h>
#include <string.h>

#include "bench.h"

#define MOST 4096u

static uint32_t kind_of(const char *name)
{
    if (strcmp(name, "blocked") == 0) return TAMIS_KIND_BLOCKED;
    if (strcmp(name, "bloom") == 0) return TAMIS_KIND_BLOOM;
    if (strcmp(name, "counting") == 0) return TAMIS_KIND_COUNTING;
    errx(2, "no kind '%s' here: blocked, bloom or counting", name);
}

int main(int argc, char **argv)
{
    static uint64_t numbers[MOST];
    static struct tamis_key keys[MOST];
    static uint8_t answers[MOST];
    if (argc != 5) errx(2, "usage: bench_instructions STORE KIND OPERATION KEYS");
    const size_t count = strtoull(argv[4], NULL, 10);
    if (count > MOST) errx(2, "at most %u keys, not '%s'", MOST, argv[4]);
    for (size_t i = 0; i < MOST; i++) {
        numbers[i] = i * 0x9E3779B97F4A7C15u;
        keys[i] = (struct tamis_key){&numbers[i], sizeof numbers[i]};
    }
    const struct tamis_filter_spec spec = {.size = sizeof spec,
                                           .kind = kind_of(argv[2]),
                                           .capacity = 1000000,
                                           .on_full = TAMIS_ON_FULL_WARN};
    tamis_store *store;
    tamis_filter *filter;
    bench_done(tamis_store_open(argv[1], TAMIS_OPEN_CREATE, &store));
    bench_done(tamis_filter_create(store, "keys", &spec, &filter));
    if (strcmp(argv[3], "add") == 0) {
        bench_done(tamis_filter_add_batch(filter, keys, count, answers));
    } else if (strcmp(argv[3], "hit") == 0) {
        bench_done(tamis_filter_add_batch(filter, keys, MOST, answers));
        bench_done(tamis_filter_contains_batch(filter, keys, count, answers));
    } else if (strcmp(argv[3], "single-hit") == 0) {
        bench_done(tamis_filter_add_batch(filter, keys, MOST, answers));
        for (size_t i = 0; i < count; i++)
            bench_done(tamis_filter_contains(filter, keys[i].data, keys[i].bytes));
    } else {
        errx(2, "no operation '%s': add, hit or single-hit", argv[3]);
    }
    bench_done(tamis_filter_close(filter));
    tamis_store_close(store);
    return 0;
}
