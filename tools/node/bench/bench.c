/* SPDX-License-Identifier: BSD-2-Clause */
/* bench.c STORE KEYS ROUNDS BATCH: what bench.js measures, by the library's own calls; it compiles
 * and runs this. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis.h>
#include <time.h>

static double cpu_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void make_keys(struct tamis_key *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char text[128];
        int bytes =
            snprintf(text, sizeof text,
                     "https://www.example.com/articles/2026/11/%zu/a-title-of-some-words.html", i);
        keys[i] = (struct tamis_key){strdup(text), (size_t)bytes};
        if (!keys[i].data) errx(1, "out of memory");
    }
}

/* Nanoseconds a key of adding all keys to a new filter; batches of 0: one by one. */
static double add_all(tamis_store *store, const struct tamis_key *keys, size_t count, size_t batch)
{
    struct tamis_filter_spec spec = TAMIS_INIT(struct tamis_filter_spec);
    tamis_filter *filter;
    uint8_t *answers = malloc(count);
    int64_t ones = 0;
    double before, after;

    spec.capacity = count;
    spec.fp_rate = 0.01;
    if (!answers || tamis_filter_create(store, "seen", &spec, &filter) < 0)
        errx(1, "%s", tamis_last_error());
    before = cpu_ns();
    for (size_t i = 0; i < count; i += batch ? batch : 1)
        ones += batch ? tamis_filter_add_batch(filter, keys + i,
                                               count - i < batch ? count - i : batch, answers + i)
                      : tamis_filter_add(filter, keys[i].data, keys[i].bytes);
    after = cpu_ns();
    if (ones <= 0 || tamis_filter_close(filter) < 0 || tamis_filter_drop(store, "seen") < 0)
        errx(1, "%s", tamis_last_error());
    free(answers);
    return (after - before) / (double)count;
}

int main(int argc, char **argv)
{
    double best_single = 1e18, best_batch = 1e18;
    tamis_store *store;

    if (argc != 5) errx(2, "usage: bench STORE KEYS ROUNDS BATCH");
    size_t count = strtoul(argv[2], NULL, 10), rounds = strtoul(argv[3], NULL, 10),
           batch = strtoul(argv[4], NULL, 10);
    struct tamis_key *keys = calloc(count, sizeof *keys);
    if (!keys || tamis_store_open(argv[1], TAMIS_OPEN_CREATE, &store) < 0)
        errx(1, "%s", tamis_last_error());
    make_keys(keys, count);
    for (size_t i = 0; i < rounds; i++) {
        double single = add_all(store, keys, count, 0), many = add_all(store, keys, count, batch);
        if (single < best_single) best_single = single;
        if (many < best_batch) best_batch = many;
    }
    printf("| in C: one key | %.0f |\n| in C: %zu keys | %.0f |\n", best_single, batch, best_batch);
    tamis_store_close(store);
    return 0;
}
