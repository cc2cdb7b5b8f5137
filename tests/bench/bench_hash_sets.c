/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_hash_sets.c: what a key costs by hash set, in a filter that stays in the cache.
 *
 *     bench_hash_sets [DIRECTORY]      a store is made there (default: $TMPDIR or /tmp) and removed
 *
 * For each set a filter of 512 KiB, keys of 40 bytes in batches of 4096; prints the least
 * nanoseconds a key of 200 batches, adding and asking.
 */
#include <stdio.h>

#include "bench.h"

#define KEYS 4096u
#define BATCHES 200u
#define KEY_BYTES 40

static void bench_set(tamis_store *store, const char *hash_set, uint32_t k)
{
    static char text[KEYS][KEY_BYTES + 1];
    static struct tamis_key keys[KEYS];
    const struct tamis_filter_spec *spec =
        SPEC(.kind = TAMIS_KIND_BLOOM, .m_bits = 1u << 22, .k = k, .hash_set = hash_set);
    double add_s = 1e9, ask_s = 1e9;
    tamis_filter *filter;
    if (tamis_filter_create(store, hash_set, spec, &filter) < 0) {
        printf("%-18s %s\n", hash_set, tamis_last_error()); /* md5 may be left out of a build */
        return;
    }
    for (unsigned batch = 0; batch < BATCHES; batch++) {
        for (unsigned i = 0; i < KEYS; i++) {
            (void)snprintf(text[i], sizeof text[i], "https://www.example.com/%016u",
                           batch * KEYS + i);
            keys[i] = (struct tamis_key){text[i], KEY_BYTES};
        }
        const double start = bench_now();
        bench_done(tamis_filter_add_batch(filter, keys, KEYS, NULL));
        const double middle = bench_now();
        const int64_t found = tamis_filter_contains_batch(filter, keys, KEYS, NULL);
        const double end = bench_now();
        if (found != KEYS) errx(1, "a key is absent");
        if (middle - start < add_s) add_s = middle - start;
        if (end - middle < ask_s) ask_s = end - middle;
    }
    printf("%-18s %8.1f %8.1f\n", hash_set, 1e9 * add_s / KEYS, 1e9 * ask_s / KEYS);
    bench_done(tamis_filter_close(filter));
}

int main(int argc, char **argv)
{
    tamis_store *store;
    bench_done(
        tamis_store_open(bench_directory(argc > 1 ? argv[1] : NULL), TAMIS_OPEN_CREATE, &store));
    printf("ns a key of 40 bytes    add      ask\n");
    bench_set(store, "xxh3", 7);
    bench_set(store, "guava", 7);
    bench_set(store, "redisbloom", 7);
    bench_set(store, "php:bkdr,sdbm,js", 3);
    bench_set(store, "php:fnv", 1);
    bench_set(store, "php-mt", 7);
    bench_set(store, "md5", 7);
    tamis_store_close(store);
    return 0;
}
