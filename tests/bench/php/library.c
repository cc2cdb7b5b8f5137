/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * library.c: bench_php_library STORE FILTER < KEYS: what the library's own calls take for the keys
 * that measure.php asks for, without an interpreter.  Prints nanoseconds of the processor a key: of
 * tamis_filter_contains_batch(), of tamis_filter_contains().
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tamis.h"

#define CHUNK_KEYS 1000 /* as in measure.php */

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The lines of standard input, each in memory of its own, as PHP has its strings. */
static struct tamis_key *read_keys(size_t *count)
{
    struct tamis_key *keys = NULL;
    size_t room = 0, line_room = 0;
    char *line = NULL;
    ssize_t bytes;

    for (*count = 0; (bytes = getline(&line, &line_room, stdin)) > 0; (*count)++) {
        if (*count == room) {
            room = room ? 2 * room : 1024;
            keys = realloc(keys, room * sizeof(*keys));
            if (!keys) err(1, "memory");
        }
        keys[*count] = (struct tamis_key){line, (size_t)bytes - 1};
        line = NULL;
        line_room = 0;
    }
    free(line);
    return keys;
}

static double ask_in_chunks(tamis_filter *filter, const struct tamis_key *keys, size_t count)
{
    static uint8_t answers[CHUNK_KEYS];
    double begin = seconds();
    size_t chunk;

    for (size_t done = 0; done < count; done += chunk) {
        chunk = count - done < CHUNK_KEYS ? count - done : CHUNK_KEYS;
        if (tamis_filter_contains_batch(filter, keys + done, chunk, answers) < 0)
            errx(1, "%s", tamis_last_error());
    }
    return seconds() - begin;
}

static double ask_each(tamis_filter *filter, const struct tamis_key *keys, size_t count)
{
    double begin = seconds();

    for (size_t i = 0; i < count; i++)
        if (tamis_filter_contains(filter, keys[i].data, keys[i].bytes) < 0)
            errx(1, "%s", tamis_last_error());
    return seconds() - begin;
}

int main(int argc, char **argv)
{
    tamis_store *store;
    tamis_filter *filter;
    struct tamis_key *keys;
    size_t count;

    if (argc != 3) errx(2, "usage: bench_php_library STORE FILTER < KEYS");
    keys = read_keys(&count);
    if (tamis_store_open(argv[1], 0, &store) < 0 ||
        tamis_filter_open(store, argv[2], 0, &filter) < 0)
        errx(1, "%s", tamis_last_error());
    printf("%.3f %.3f\n", ask_in_chunks(filter, keys, count) / (double)count * 1e9,
           ask_each(filter, keys, count) / (double)count * 1e9);
    if (tamis_filter_close(filter) < 0) errx(1, "%s", tamis_last_error());
    tamis_store_close(store);
    return 0;
}
