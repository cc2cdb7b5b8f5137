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
#include <stdlib.h>
#include <time.h>

#include "tamis.h"

#define KEYS 4096u
#define BATCHES 200u
#define KEY_BYTES 40

static double now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void bench_set(tamis_store *store, const char *hash_set, uint32_t k)
{
    static char text[KEYS][KEY_BYTES + 1];
    static struct tamis_key keys[KEYS];
    const struct tamis_filter_spec spec = {.size = sizeof spec,
                                           .kind = TAMIS_KIND_BLOOM,
                                           .m_bits = 1u << 22,
                                           .k = k,
                                           .hash_set = hash_set};
    double add_ns = 1e18, ask_ns = 1e18;
    tamis_filter *filter;
    if (tamis_filter_create(store, hash_set, &spec, &filter) < 0) {
        printf("%-18s %s\n", hash_set, tamis_last_error()); /* md5 may be left out of a build */
        return;
    }
    for (unsigned batch = 0; batch < BATCHES; batch++) {
        for (unsigned i = 0; i < KEYS; i++) {
            (void)snprintf(text[i], sizeof text[i], "https://www.example.com/%016u",
                           batch * KEYS + i);
            keys[i] = (struct tamis_key){text[i], KEY_BYTES};
        }
        const double start = now_ns();
        const int64_t added = tamis_filter_add_batch(filter, keys, KEYS, NULL);
        const double middle = now_ns();
        const int64_t found = tamis_filter_contains_batch(filter, keys, KEYS, NULL);
        const double end = now_ns();
        if (added < 0 || found != KEYS) exit(1);
        if (middle - start < add_ns) add_ns = middle - start;
        if (end - middle < ask_ns) ask_ns = end - middle;
    }
    printf("%-18s %8.1f %8.1f\n", hash_set, add_ns / KEYS, ask_ns / KEYS);
    (void)tamis_filter_close(filter);
}

int main(int argc, char **argv)
{
    const char *parent = argc > 1 ? argv[1] : getenv("TMPDIR");
    char path[4096], command[4200];
    tamis_store *store;
    (void)snprintf(path, sizeof path, "%s/tamis-bench-XXXXXX", parent ? parent : "/tmp");
    if (mkdtemp(path) == NULL || tamis_store_open(path, TAMIS_CREATE, &store) < 0) return 1;
    printf("ns a key of 40 bytes    add      ask\n");
    bench_set(store, "xxh3", 7);
    bench_set(store, "guava", 7);
    bench_set(store, "redisbloom", 7);
    bench_set(store, "php:bkdr,sdbm,js", 3);
    bench_set(store, "php:fnv", 1);
    bench_set(store, "php-mt", 7);
    bench_set(store, "md5", 7);
    tamis_store_close(store);
    (void)snprintf(command, sizeof command, "rm -r '%s'", path);
    return system(command) == 0 ? 0 : 1;
}
