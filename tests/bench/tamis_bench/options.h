/* SPDX-License-Identifier: BSD-2-Clause */
/* options.h: what the command line said. */
#ifndef TAMIS_BENCH_OPTIONS_H
#define TAMIS_BENCH_OPTIONS_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct options {
    uint64_t out_keys;    /* of a filter that no cache holds */
    uint64_t in_keys;     /* of one that a cache does */
    uint64_t max_keys;    /* --grow, or filters of each size, go up to */
    uint64_t sample_keys; /* asked for a sample, out of cache; in cache a quarter */
    uint64_t seed;
    unsigned levels, repeats; /* of samples: figures.h */
    size_t batch;
    uint32_t pages; /* enum tamis_pages */
    bool quick, smoke, grow, tune;
    bool sizes; /* --max-keys without --grow */
    bool some;  /* only what matches `only` */
    regex_t only;
    const char *only_text;
    const char *json;
    const char *directory;
    char command[1024];
};

/* Ends the program where there is an error in them (exit 2), and after --help. */
void options_parse(int argc, char **argv, struct options *options);

/* Is a figure of that name wanted? */
bool options_want(const struct options *options, const char *name);

#endif
