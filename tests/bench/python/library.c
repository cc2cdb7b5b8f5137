/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * library.c: what the library's own calls take for the keys of a Python list, for bench_python.py:
 * the same bytes at the same place, without the interpreter.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "tamis.h"

#define CHUNK_KEYS 4096 /* as in tools/python/src/source.h */

typedef int64_t batch_call(tamis_filter *filter, const struct tamis_key *keys, size_t count,
                           uint8_t *answers);

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static struct tamis_key *make_keys(const uint64_t *places, const uint64_t *sizes, size_t count)
{
    struct tamis_key *keys = malloc(count * sizeof(*keys));
    size_t i;

    for (i = 0; keys && i < count; i++)
        keys[i] = (struct tamis_key){(const void *)(uintptr_t)places[i], (size_t)sizes[i]};
    return keys;
}

static bool ask_in_chunks(tamis_filter *filter, batch_call *call, const struct tamis_key *keys,
                          size_t count)
{
    static uint8_t answers[CHUNK_KEYS];
    size_t done, chunk;

    for (done = 0; done < count; done += chunk) {
        chunk = count - done < CHUNK_KEYS ? count - done : CHUNK_KEYS;
        if (call(filter, keys + done, chunk, answers) < 0) return false;
    }
    return true;
}

static bool ask_each(tamis_filter *filter, const struct tamis_key *keys, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        if (tamis_filter_contains(filter, keys[i].data, keys[i].bytes) < 0) return false;
    return true;
}

/* what: 0 add_batch, 1 contains_batch, 2 contains.  Returns seconds, or -1. */
__attribute__((visibility("default"))) double library_seconds(const char *path, const char *name,
                                                              int what, const uint64_t *places,
                                                              const uint64_t *sizes, size_t count);
double library_seconds(const char *path, const char *name, int what, const uint64_t *places,
                       const uint64_t *sizes, size_t count)
{
    struct tamis_key *keys = make_keys(places, sizes, count);
    tamis_store *store = NULL;
    tamis_filter *filter = NULL;
    double begin, taken = -1;
    bool is_done = false;

    if (!keys || tamis_store_open(path, 0, &store) < 0 ||
        tamis_filter_open(store, name, 0, &filter) < 0)
        goto out;
    begin = seconds();
    if (what == 0) is_done = ask_in_chunks(filter, tamis_filter_add_batch, keys, count);
    if (what == 1) is_done = ask_in_chunks(filter, tamis_filter_contains_batch, keys, count);
    if (what == 2) is_done = ask_each(filter, keys, count);
    if (is_done) taken = seconds() - begin;
out:
    if (filter && tamis_filter_close(filter) < 0) taken = -1;
    if (store) tamis_store_close(store);
    free(keys);
    return taken;
}
